from __future__ import annotations

from judging.charts.metrics import metric_bar
from judging.scoring.policy import CURRENT

CURVES = {rule.name: rule.curve for rule in CURRENT.halves.metrics}


def test_the_good_range_of_each_kind_of_curve_stands_where_its_rule_says() -> None:
    lower = metric_bar(CURVES["pivot_latency_s"], 65, "")
    assert (lower.good_x, lower.good_width, lower.value_x) == ("0%", "50%", "27.08%")
    band = metric_bar(CURVES["dwell_ratio"], 0.0868, "")
    assert (band.good_x, band.good_width, band.value_x) == ("16.67%", "33.33%", "28.93%")
    higher = metric_bar(CURVES["verification_density"], 0.25, "")
    assert (higher.good_x, higher.good_width, higher.value_x) == ("50%", "50%", "25%")
    share = metric_bar(CURVES["score_trajectory"], 0.5, "")
    assert (share.good_x, share.value_x) == ("", "50%")


def test_a_value_off_the_track_is_shown_as_beyond_it() -> None:
    assert metric_bar(CURVES["pivot_latency_s"], 600, "").is_beyond
    assert not metric_bar(CURVES["pivot_latency_s"], 240, "").is_beyond


def test_no_value_has_no_mark() -> None:
    assert metric_bar(CURVES["pivot_latency_s"], None, "").value_x == ""
