"""`concord devices`."""

from program import concord, fails, says, selectors


def test_json():
    result = concord("devices --json")
    assert result.status == 0 and result.err == "", result
    listed = result.json()
    assert [device["selector"] for device in listed["devices"] if device["auto"]] == [listed["auto"]]
    assert "tbb:0" in selectors()
    for device in listed["devices"]:
        assert device["selector"].startswith(device["backend"] + ":")
        assert device["name"] and device["driver"]
    for backend in listed["backends"]:
        assert backend["name"]
        assert backend["available"] == (backend["reason"] == "")


def test_verbose_json():
    for device in says("{", "devices --verbose --json").json()["devices"]:
        assert device["traits"] and device["properties"]


def test_text_names_every_device():
    says(selectors(), "devices")


def test_verbose_text_names_every_trait():
    for device in concord("devices --verbose --json").json()["devices"]:
        says([device["selector"], *device["traits"]], "devices --verbose")


def test_unusable_modules_come_with_a_reason(unusable_modules):
    backends = {backend["name"]: backend for backend in concord("devices --json").json()["backends"]}
    text = says("backend interface", "devices").out
    for name in ("old", "entryless", "broken"):
        assert not backends[name]["available"]
        assert f"{name} is not available: {backends[name]['reason']}\n" in text
    assert backends["tbb"]["available"]


def test_unknown_log_level():
    fails(2, "frob", "devices --log-level frob")


def test_number_of_threads_out_of_range():
    fails(2, "--threads", "devices --threads 0")
