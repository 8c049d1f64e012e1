"""Hostile archives are refused with file and place, honest ones unpack alike in every packing."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import struct
import tarfile
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from bouts.archives.limits import RATIO_FLOOR, Limits
from bouts.bundles import names
from bouts.bundles.archive import Walk, tree_contents, tree_digests, unpack
from bouts.bundles.errors import Refused
from tests.bouts.bundles.making import (
    LIMITS,
    PACKINGS,
    as_folder,
    gzipped_tar,
    one,
    tarred,
    unpacked,
    zipped,
    zstd_tar,
)

FILES = {"match.json": b"{}", "logs/build.log": b"built\n", "empty": b"", "naïve – 日本.txt": b"x"}
NOISE = os.urandom(200_000)


@pytest.mark.parametrize("packing", PACKINGS)
def test_every_packing_gives_the_same_files(packing: str) -> None:
    content, faults = unpacked(PACKINGS[packing](FILES))
    assert faults == []
    assert content == FILES


def test_a_folder_gives_the_same_files(tmp_path: Path) -> None:
    content, faults = unpacked(as_folder(FILES, tmp_path))
    assert (content, faults) == (FILES, [])


def test_a_member_knows_its_size_and_digest() -> None:
    with unpack(zipped({"noise": NOISE}), name="x", limits=LIMITS) as result:
        member = result.members["noise"]
        assert (member.size, member.sha256) == (len(NOISE), hashlib.sha256(NOISE).hexdigest())
        assert member.open().read() == NOISE


def test_a_member_larger_than_a_block_arrives_whole() -> None:
    large = NOISE * 12
    for packing in PACKINGS.values():
        assert unpacked(packing({"large": large})) == ({"large": large}, [])


def test_the_content_decides_and_not_the_name(tmp_path: Path) -> None:
    path = tmp_path / "bundle.tar.gz"
    path.write_bytes(zipped(FILES).getvalue())
    assert unpacked(path) == (FILES, [])


def test_nothing_is_left_on_disk(tmp_path: Path) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        unpack(zipped(FILES), name="x", limits=LIMITS, into=tmp_path) as result,
    ):
        assert list(result.root.iterdir())
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_one_enclosing_folder_is_stepped_into_and_what_macos_adds_is_none() -> None:
    files = {"run 7/match.json": b"{}", "run 7/a/b": b"1", "__MACOSX/run 7/._match.json": b"\0"}
    with unpack(zipped(files), name="x", limits=LIMITS) as result:
        result.enter("match.json")
        assert {path: member.path for path, member in result.members.items()} == {
            "match.json": "match.json",
            "a/b": "a/b",
        }


def test_two_folders_are_not_stepped_into() -> None:
    files = {"a/match.json": b"{}", "b/match.json": b"{}"}
    with unpack(zipped(files), name="x", limits=LIMITS) as result:
        result.enter("match.json")
        assert set(result.members) == set(files)


def test_a_tar_of_the_folder_itself_has_its_dots_taken_away() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        folder = tarfile.TarInfo(".")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        archive.addfile(tarfile.TarInfo("./match.json"))
    assert unpacked(out) == ({"match.json": b""}, [])


def test_memory_does_not_grow_with_the_archive() -> None:
    noise = os.urandom(30_000_000)
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as archive:
        archive.writestr("noise", noise)
    fast = io.BytesIO(gzip.compress(tarred({"noise": noise}), compresslevel=1))
    for source in (stored, fast):
        tracemalloc.start()
        with unpack(source, name="x", limits=LIMITS) as result:
            assert result.members["noise"].size == len(noise)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 5_000_000


# Names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("../x", "A path inside the bundle"),
        ("logs/../run.log", "A path inside the bundle"),
        ("/etc/passwd", "A path inside the bundle, not an absolute one"),
        ("C:/x", "A path inside the bundle, not an absolute one"),
        ("a\\b", "A path inside the bundle, its parts separated by /"),
        ("a//b", "A path inside the bundle without empty parts"),
        ("a/./b", "A path inside the bundle without empty parts"),
        ("a\nb", "A path inside the bundle without control characters"),
        ("gpj\u202egnp.exe", "A path inside the bundle without control characters"),
        ("x/" * 32 + "x", "At most 500 characters in 32 parts"),
        (f"{'x' * 250}/{'y' * 250}", "At most 500 characters in 32 parts"),
        ("x" * 256, "At most 255 bytes a part"),
    ],
)
@pytest.mark.parametrize("packing", PACKINGS)
def test_a_name_that_leads_astray_is_refused(packing: str, name: str, expected: str) -> None:
    content, faults = unpacked(PACKINGS[packing]({name: b"x", "match.json": b"{}"}))
    fault = one(faults)
    assert (fault.field, fault.expected) == ("path", expected)
    assert content == {"match.json": b"{}"}


def test_a_name_that_is_no_utf8_is_refused() -> None:
    _, faults = unpacked(
        gzipped_tar({"caf\udce9": b"x"}, encoding="utf-8", errors="surrogateescape")
    )
    assert one(faults).expected == "A path inside the bundle in UTF-8"


def test_a_name_twice_is_refused() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        archive = zipped([("run.log", b"1"), ("run.log", b"2")])
    fault = one(unpacked(archive)[1])
    assert (fault.file, fault.field, fault.found) == ("run.log", "path", "the same name twice")


def test_two_spellings_of_one_unicode_name_are_one_name() -> None:
    content, faults = unpacked(zipped({"caf\u00e9": b"1", "cafe\u0301": b"2"}))
    assert one(faults).found == "the same name twice"
    assert content == {"caf\u00e9": b"1"}


@pytest.mark.parametrize("order", [["a", "a/b"], ["a/b", "a"]])
def test_a_file_and_a_folder_of_one_name_are_refused(order: list[str]) -> None:
    _, faults = unpacked(zipped({name: b"x" for name in order}))
    assert one(faults).found == "a file and a folder of one name"


@given(st.text(st.characters(), min_size=1, max_size=40))
def test_no_accepted_name_leads_out_of_a_folder(name: str) -> None:
    path = names.normal(name)
    if names.odd(path) is None:
        root = Path("/root-of-the-bundle")
        assert Path(os.path.normpath(root / path)) == root / path
        assert "\\" not in path
        assert "\0" not in path
        assert names.normal(path) == path


@given(
    st.dictionaries(
        st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=30),
        st.binary(max_size=50),
        max_size=5,
    )
)
def test_whatever_the_names_only_safe_members_come_out(files: dict[str, bytes]) -> None:
    try:
        archive = zipped(files)
    except UnicodeEncodeError:  # lone surrogates: zipfile cannot write them
        return
    content, faults = unpacked(archive)
    assert all(names.odd(path) is None for path in content)
    # zipfile cuts a name at NUL and turns backslashes on Windows only; every member is told of.
    assert len(content) + len(faults) >= len({name for name in files if not name.endswith("/")})


# Kinds of member


def test_a_link_in_a_zip_is_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("run.log")
        info.create_system = 3
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    fault = one(unpacked(out)[1])
    assert (fault.file, fault.field, fault.found) == ("run.log", "kind", "a link")


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        (tarfile.SYMTYPE, "a link"),
        (tarfile.LNKTYPE, "a link"),
        (tarfile.CHRTYPE, "a device, pipe, sparse file or the like"),
        (tarfile.FIFOTYPE, "a device, pipe, sparse file or the like"),
        (tarfile.GNUTYPE_SPARSE, "a device, pipe, sparse file or the like"),
    ],
)
def test_links_and_devices_in_a_tar_are_refused(kind: bytes, found: str) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        info = tarfile.TarInfo("x")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
        archive.addfile(tarfile.TarInfo("match.json"))
    content, faults = unpacked(out)
    assert (one(faults).field, one(faults).found) == ("kind", found)
    assert content == {"match.json": b""}


def test_links_and_pipes_in_a_folder_are_refused_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    folder = as_folder({"match.json": b"{}"}, tmp_path / "bundle")
    (folder / "file").symlink_to(outside / "secret")
    (folder / "folder").symlink_to(outside)
    os.mkfifo(folder / "pipe")
    content, faults = unpacked(folder)
    assert content == {"match.json": b"{}"}
    assert {fault.file: fault.found for fault in faults} == {
        "file": "a link",
        "folder": "a link",
        "pipe": "a device, pipe, sparse file or the like",
    }


def test_an_encrypted_member_is_refused_and_the_others_are_read() -> None:
    data = bytearray(zipped({"secret": b"x", "match.json": b"{}"}).getvalue())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    content, faults = unpacked(io.BytesIO(bytes(data)))
    assert (one(faults).file, one(faults).found) == ("secret", "an encrypted member")
    assert content == {"match.json": b"{}"}


def test_a_method_that_nobody_uses_is_refused_by_its_number() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("x", b"x")
    assert one(unpacked(out)[1]).found == "compression method 14"


# Bounds


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_bomb_is_refused(packing: str) -> None:
    content, faults = unpacked(PACKINGS[packing]({"zeros": bytes(20_000_000)}))
    assert one(faults).field == "size"
    assert one(faults).expected == "At most 200 times smaller when packed (BOUTS_MAX_RATIO)"
    assert content == {}


def test_a_small_file_that_repeats_itself_is_no_bomb() -> None:
    dots = b"." * RATIO_FLOOR
    assert unpacked(zipped({"dots": dots})) == ({"dots": dots}, [])


def test_a_zip_that_lies_about_its_sizes_is_found_out_after_a_block() -> None:
    data = zipped({"zeros": bytes(5_000_000)}).getvalue()
    lie = data.replace(struct.pack("<L", 5_000_000), struct.pack("<L", 1_000))
    content, faults = unpacked(io.BytesIO(lie))
    assert (one(faults).found, content) == ("more bytes, in zeros", {})


@pytest.mark.parametrize("packing", PACKINGS)
def test_too_many_members_are_refused(packing: str) -> None:
    files = {f"{number}": b"x" for number in range(7)}
    _, faults = unpacked(PACKINGS[packing](files), Limits(members=6))
    assert one(faults).expected == "At most 6 members (BOUTS_MAX_MEMBERS)"


def test_a_zip_of_millions_of_members_is_refused_before_it_is_read() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("x", b"x")
    data = out.getvalue()
    end = data.rindex(b"PK\x05\x06")
    start = data.index(b"PK\x01\x02")
    directory = data[start:end] * 20_000
    record = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(directory), start, 0)
    _, faults = unpacked(io.BytesIO(data[:start] + directory + record), Limits(members=100))
    assert "a directory of" in one(faults).found


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_member_that_is_too_large_is_refused_and_the_others_are_read(packing: str) -> None:
    files = {"noise": NOISE, "match.json": b"{}"}
    content, faults = unpacked(PACKINGS[packing](files), Limits(member_bytes=100_000))
    assert (one(faults).file, one(faults).found) == ("noise", "200.0 kB")
    assert one(faults).expected == "At most 100.0 kB a member (BOUTS_MAX_MEMBER_MB)"
    assert content == {"match.json": b"{}"}


@pytest.mark.parametrize("packing", PACKINGS)
def test_members_that_are_too_large_together_are_refused(packing: str) -> None:
    files = {"a": NOISE, "b": NOISE[::-1]}
    source = PACKINGS[packing](files)
    _, faults = unpacked(source, Limits(bundle_bytes=300_000, member_bytes=250_000))
    assert one(faults).field == "size"
    assert "BOUTS_MAX_BUNDLE_MB" in one(faults).expected


def test_a_folder_keeps_to_the_same_bounds(tmp_path: Path) -> None:
    folder = as_folder({"a": NOISE, "b": NOISE}, tmp_path)
    assert "BUNDLE_MB" in one(unpacked(folder, Limits(bundle_bytes=300_000))[1]).expected
    assert "MEMBERS" in one(unpacked(folder, Limits(members=1))[1]).expected
    assert {fault.file for fault in unpacked(folder, Limits(member_bytes=9))[1]} == {"a", "b"}


@pytest.mark.parametrize("packing", PACKINGS)
def test_an_upload_that_is_too_large_as_it_comes_is_refused(packing: str) -> None:
    _, faults = unpacked(PACKINGS[packing]({"a": NOISE}), Limits(bundle_bytes=150_000))
    assert one(faults).field == "size"
    assert "unpacked" not in one(faults).found


def test_faults_of_an_archive_end_somewhere() -> None:
    _, faults = unpacked(zipped({f"../{number}": b"" for number in range(600)}))
    assert (len(faults), faults[-1].found) == (501, "500 faults")


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    folder = as_folder({"run.log": b"one"}, tmp_path)
    walk = Walk(folder, name="x", limits=LIMITS)
    for _, blocks in walk:
        (folder / "run.log").write_bytes(b"longer")
        assert b"".join(blocks) == b"lon"
    assert one(walk.faults).expected == "A file that stays as it is"


def test_a_window_that_would_take_much_memory_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27, enable_ldm=True)
    compressor = zstandard.ZstdCompressor(compression_params=parameters)
    packed = io.BytesIO()
    with compressor.stream_writer(packed, closefd=False) as writer:
        writer.write(tarred({"noise": NOISE * 60}))
    assert one(unpacked(packed)[1]).found.startswith("a window that is too large")


def test_an_extension_header_that_would_take_much_memory_is_refused() -> None:
    source = gzipped_tar({"x" * 70_000: b"x"}, format=tarfile.GNU_FORMAT)
    assert one(unpacked(source)[1]).found.startswith("an extension of 70,001 bytes")


# Cut short, corrupt, or at odds with itself


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_truncated_archive_names_the_member_and_the_byte(packing: str) -> None:
    data = PACKINGS[packing]({"match.json": b"{}", "noise.bin": NOISE}).getvalue()
    content, faults = unpacked(io.BytesIO(data[:100_000]))
    fault = one(faults)
    assert fault.file == "upload"
    assert fault.field.startswith("byte ")
    found, _, member = fault.found.partition(", in ")
    assert found == "the end of the file"
    # A block of zstd gives nothing before it is complete, so less than was sent may be seen.
    assert member == "noise.bin" or packing == "tar.zst"
    assert "cut short" in fault.expected
    assert "noise.bin" not in content


@pytest.mark.parametrize("packing", PACKINGS)
def test_no_prefix_of_an_archive_is_taken_for_the_whole(packing: str) -> None:
    data = PACKINGS[packing](FILES).getvalue()
    # The checksum of a zstd frame is optional, and nothing but padding lies in its last bytes.
    for length in range(0, len(data) - 20, 3):
        assert unpacked(io.BytesIO(data[:length]))[1], length


@pytest.mark.parametrize("packing", ["zip", "tar.gz"])
def test_corrupt_data_is_found_by_its_checksum(packing: str) -> None:
    data = bytearray(PACKINGS[packing]({"noise.bin": NOISE}).getvalue())
    data[1_000] ^= 0xFF
    fault = one(unpacked(io.BytesIO(bytes(data)))[1])
    assert (fault.file, fault.field[:5]) == ("upload", "byte ")


def test_a_local_header_that_disagrees_with_the_directory_is_refused() -> None:
    data = zipped({"match.json": b"{}"}).getvalue().replace(b"match.json", b"other.json", 1)
    fault = one(unpacked(io.BytesIO(data))[1])
    assert fault.found == "the name other.json, in match.json"
    assert fault.expected == "A local header that agrees with the directory"


def test_a_local_header_with_other_sizes_than_the_directory_is_refused() -> None:
    data = zipped({"noise": NOISE}).getvalue()
    lie = data.replace(struct.pack("<L", len(NOISE)), struct.pack("<L", 7), 1)
    assert (
        one(unpacked(io.BytesIO(lie))[1]).expected
        == "A local header that agrees with the directory"
    )


def test_a_local_header_that_stretches_over_the_next_member_is_refused() -> None:
    with_room = zipped({"a": b"1", "b": NOISE}).getvalue()
    stretched = bytearray(with_room)
    stretched[28:30] = struct.pack("<H", 100)  # an extra field that the directory knows nothing of
    assert one(unpacked(io.BytesIO(bytes(stretched)))[1]).expected == "Members that lie apart"


def test_data_after_the_end_of_a_deflated_member_is_refused() -> None:
    content = zlib.compress(b"x" * 50, wbits=-15) + b"hidden"
    crc, size = zlib.crc32(b"x" * 50), 50
    sizes = (crc, len(content), size, 1)
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 8, 0, 33, *sizes, 0) + b"a" + content
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 8, 0, 33, *sizes, 0, 0, 0, 0, 0, 0)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(entry) + 1, len(local), 0)
    fault = one(unpacked(io.BytesIO(local + entry + b"a" + end))[1])
    assert fault.found == "data after its end, in a"


def test_bytes_between_the_directory_and_its_end_record_are_refused() -> None:
    data = zipped({"a": b"1"}).getvalue()
    end = data.rindex(b"PK\x05\x06")
    fault = one(unpacked(io.BytesIO(data[:end] + b"junk" + data[end:]))[1])
    assert fault.expected == "A directory that reaches up to its end record"


def test_a_tar_header_with_a_wrong_checksum_is_refused() -> None:
    data = bytearray(tarred({"match.json": b"{}"}))
    data[0:1] = b"n"
    fault = one(unpacked(io.BytesIO(gzip.compress(bytes(data))))[1])
    assert (fault.field, fault.expected) == ("byte 0 unpacked", "The header of a tar member")


def test_a_sparse_file_in_pax_records_is_refused() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("x")
        info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.realsize": "99999999"}
        archive.addfile(info)
    assert one(unpacked(out)[1]).found == "a device, pipe, sparse file or the like"


def test_overlapping_members_are_refused() -> None:
    data = zipped({"a": NOISE}).getvalue()
    start, end = data.index(b"PK\x01\x02", 200_000), data.rindex(b"PK\x05\x06")
    entry = data[start:end]
    directory = entry + entry.replace(b"a", b"b", 1)
    record = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 2, 2, len(directory), start, 0)
    fault = one(unpacked(io.BytesIO(data[:start] + directory + record))[1])
    assert "ends before" in fault.expected


def test_data_after_the_end_of_a_tar_is_refused() -> None:
    source = io.BytesIO(gzip.compress(tarred({"a": b"1"}) + tarred({"b": b"2"})))
    assert one(unpacked(source)[1]).expected == "Nothing after the end mark"


def test_a_gzip_file_in_several_parts_is_one() -> None:
    data = tarred(FILES)
    source = io.BytesIO(gzip.compress(data[:700]) + gzip.compress(data[700:]))
    assert unpacked(source) == (FILES, [])


def test_a_zip_made_by_streaming_is_read() -> None:
    """Sizes stand after the data and 64-bit fields in the headers, as pipes make them."""

    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.written = io.BytesIO()

        def writable(self) -> bool:
            return True

        def write(self, data: bytes) -> int:  # type: ignore[override]
            return self.written.write(data)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("match.json", "w", force_zip64=True) as member:
            member.write(b"{}")
        archive.writestr("noise", NOISE)
    assert unpacked(pipe.written) == ({"match.json": b"{}", "noise": NOISE}, [])


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT])
def test_every_way_of_writing_long_names_in_a_tar_is_read(form: int) -> None:
    files = {f"{'folder/' * 18}{'n' * 90}": b"1", "short": b"2"}
    assert unpacked(gzipped_tar(files, format=form)) == (files, [])


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "an empty file"),
        (b"hello", "something else"),
        (b"Rar!\x1a\x07\x01\x00", "a rar file"),
        (tarred(FILES), "a tar file"),
    ],
)
def test_what_is_no_archive_that_we_know_says_what_it_is(data: bytes, found: str) -> None:
    assert one(unpacked(io.BytesIO(data))[1]).found == found


def test_a_gzip_file_that_holds_no_tar_is_refused() -> None:
    source = io.BytesIO(gzip.compress(b"just a log line\n" * 100))
    assert one(unpacked(source)[1]).expected == "The header of a tar member"


@given(st.binary(max_size=300), st.integers(0, 400))
def test_a_damaged_zip_never_raises(noise: bytes, at: int) -> None:
    data = zipped(FILES).getvalue()
    unpacked(io.BytesIO(data[:at] + noise + data[at + len(noise) :]))


@given(st.binary(max_size=300), st.integers(0, 2_000))
def test_a_damaged_tar_never_raises(noise: bytes, at: int) -> None:
    data = tarred(FILES)
    damaged = data[:at] + noise + data[at + len(noise) :]
    unpacked(io.BytesIO(gzip.compress(damaged, compresslevel=1)))


@given(st.binary(max_size=60), st.integers(0, 300))
def test_a_damaged_zstd_stream_never_raises(noise: bytes, at: int) -> None:
    data = zstd_tar(FILES).getvalue()
    unpacked(io.BytesIO(data[:at] + noise + data[at + len(noise) :]))


# Trees


def test_a_tree_gives_digests_and_contents_without_touching_the_disk() -> None:
    source = gzipped_tar({"src/x.py": b"x = 1\n", "fixtures/data.zip": zipped(FILES).getvalue()})
    digests = tree_digests(source, name="tree.tar.gz", limits=LIMITS)
    assert digests["src/x.py"] == hashlib.sha256(b"x = 1\n").hexdigest()
    contents = dict(tree_contents(source, name="tree.tar.gz", limits=LIMITS))
    assert contents["src/x.py"] == b"x = 1\n"
    assert set(contents) == set(digests) == {"src/x.py", "fixtures/data.zip"}


def test_a_hostile_tree_is_refused_like_a_bundle() -> None:
    source = gzipped_tar({"../x": b"1"})
    for read in (tree_digests, lambda *a, **k: list(tree_contents(*a, **k))):
        with pytest.raises(Refused) as refused:
            read(source, name="tree.tar.gz", limits=LIMITS)
        assert refused.value.faults[0].field == "path"
