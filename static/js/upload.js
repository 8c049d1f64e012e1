/* Uploads: files dropped anywhere on the zone, one request a file, with the progress of each. */
const form = document.getElementById("upload");
const picker = form.querySelector("[type=file]");
const said = document.getElementById("upload-said");
const most = Number(form.dataset.most);

for (const kind of ["dragenter", "dragover"]) {
  form.addEventListener(kind, (event) => {
    event.preventDefault();
    form.classList.add("is-over");
  });
}
for (const kind of ["dragleave", "drop"]) {
  form.addEventListener(kind, () => form.classList.remove("is-over"));
}
form.addEventListener("drop", (event) => {
  event.preventDefault();
  send([...event.dataTransfer.files]);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  send([...picker.files]);
});

async function send(files) {
  said.replaceChildren();
  const sent = await Promise.all(files.map(sendOne));
  const addresses = sent.filter(Boolean);
  if (files.length === 1 && addresses.length === 1) location.assign(addresses[0]);
  else if (addresses.length) {
    picker.value = "";
    htmx.ajax("GET", location.href, { target: "#uploads", swap: "outerHTML" });
  }
}

function sendOne(file) {
  const line = document.createElement("p");
  const bar = document.createElement("progress");
  const text = document.createElement("span");
  bar.max = 1;
  bar.value = 0;
  bar.setAttribute("aria-label", `Transfer of ${file.name}`);
  line.append(text, bar);
  said.append(line);
  if (file.size > most) return fail(line, `${file.name}: ${form.dataset.mostText}. Not sent.`);
  text.textContent = `${file.name}: sending`;

  const data = new FormData();
  data.append("csrfmiddlewaretoken", form.querySelector("[name=csrfmiddlewaretoken]").value);
  data.append("bundles", file);
  if (form.elements.check.checked) data.append("check", "on");
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", form.action || location.href);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) bar.value = event.loaded / event.total;
    });
    request.addEventListener("load", () => {
      if (request.status !== 202) {
        resolve(fail(line, `${file.name}: the server refused it (${request.status}). Try again.`));
        return;
      }
      text.textContent = `${file.name}: received`;
      bar.value = 1;
      resolve(JSON.parse(request.responseText).uploads[0]);
    });
    request.addEventListener("error", () =>
      resolve(fail(line, `${file.name}: the connection broke. Nothing was stored; try again.`)),
    );
    request.send(data);
  });
}

function fail(line, text) {
  line.className = "error";
  line.replaceChildren(text);
  return null;
}
