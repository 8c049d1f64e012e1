/* Uploads: files dropped anywhere on the page, sent one after the other with their progress. */
const form = document.getElementById("upload");
const picker = form.querySelector("[type=file]");
const said = document.getElementById("upload-said");
const most = Number(form.dataset.most);
const REFUSED = {
  0: "the connection broke. Nothing was stored; send it again.",
  200: "you are signed out. Sign in and send it again.", // the answer is the sign-in page
  403: "you may not upload, or have signed in anew since. Reload this page.",
  413: "the server takes no file of this size.",
};
let waiting = 0; // files that are not through
let queue = Promise.resolve();

document.addEventListener("dragover", (event) => {
  event.preventDefault();
  form.classList.add("is-over");
});
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) form.classList.remove("is-over"); // it has left the window
});
document.addEventListener("drop", (event) => {
  event.preventDefault();
  form.classList.remove("is-over");
  enqueue(event.dataTransfer.files);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  enqueue(picker.files);
  picker.value = "";
});
window.addEventListener("beforeunload", (event) => {
  if (waiting) event.preventDefault();
});

function enqueue(files) {
  if (!waiting) said.replaceChildren();
  const transfers = [...files].map((file) => new Transfer(file));
  waiting += transfers.length;
  queue = queue.then(() => send(transfers));
}

async function send(transfers) {
  for (const transfer of transfers) {
    await transfer.run();
    waiting -= 1;
  }
  const received = transfers.filter((transfer) => transfer.address);
  if (transfers.length === 1 && received.length && !waiting) location.assign(received[0].address);
  else if (received.length) htmx.ajax("GET", form.action, { target: "#uploads", swap: "outerHTML" });
}

class Transfer {
  address = null; // of the upload's page, once the server has the file

  constructor(file) {
    this.file = file;
    this.line = document.createElement("p");
    this.words = document.createElement("span");
    this.bar = document.createElement("progress");
    this.bar.value = 0;
    this.bar.setAttribute("aria-label", `Transfer of ${file.name}`);
    this.line.append(this.words, this.bar);
    this.say("waits");
    // What the form says now: the box may be ticked anew for the next files.
    this.data = new FormData(form);
    this.data.set("bundles", file);
    said.append(this.line);
  }

  say(words) {
    this.words.textContent = `${this.file.name}: ${words}`;
  }

  async run() {
    try {
      if (this.file.size > most) throw new Error(`${form.dataset.mostText}. Not sent.`);
      await this.read();
      this.say("sending");
      this.address = await this.post();
      this.say("received");
    } catch (error) {
      this.say(error.message);
      this.line.className = "error";
      this.bar.remove();
    }
  }

  /** Read a first byte: a folder looks like a file until then. */
  async read() {
    try {
      await this.file.slice(0, 1).arrayBuffer();
    } catch {
      throw new Error("it cannot be read. A folder has to be packed first.");
    }
  }

  post() {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("POST", form.action);
      request.setRequestHeader("Accept", "application/json");
      request.upload.addEventListener("progress", (event) => {
        if (event.lengthComputable) this.bar.value = event.loaded / event.total;
      });
      request.addEventListener("loadend", () => {
        const { status } = request;
        this.bar.value = 1;
        if (status === 202) resolve(JSON.parse(request.responseText).uploads[0]);
        else reject(new Error(REFUSED[status] ?? `the server failed (${status}). Send it again.`));
      });
      request.send(this.data);
    });
  }
}
