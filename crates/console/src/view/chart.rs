//! Charts, drawn by the server: bars over time, without a script and without inline styles.

use maud::{Markup, html};
use signet_pages::Face;

const WIDTH: u64 = 720;
const HEIGHT: u64 = 120;

/// A series: what it counts, its colour's class, and a count for each span.
pub(crate) struct Series<'a> {
    pub(crate) text: &'a str,
    pub(crate) class: &'static str,
    /// When each span begins, Unix seconds, and what was counted in it; the oldest first.
    pub(crate) points: Vec<(u64, u64)>,
}

/// `07:40`, in UTC; the script writes it in the reader's zone.
fn clock(at: u64) -> Markup {
    let minute = at / 60 % 1440;
    html! { span data-clock=(at) { (format!("{:02}:{:02}", minute / 60, minute % 60)) } }
}

impl Series<'_> {
    fn total(&self) -> u64 {
        self.points.iter().map(|(_, count)| count).sum()
    }

    fn most(&self) -> u64 {
        self.points
            .iter()
            .map(|(_, count)| *count)
            .max()
            .unwrap_or(0)
    }

    /// As a picture with its total, and its numbers for whoever sees none.
    pub(crate) fn render(&self) -> Markup {
        let spans = self.points.len().max(1) as u64;
        let most = self.most().max(1);
        let width = (WIDTH * 10 / spans).max(10);
        let label = format!("{}: {}", self.text, self.total());
        html! {
            figure .chart .(self.class) {
                figcaption { span { (self.text) } strong { (self.total()) } }
                div .plot {
                    span .peak aria-hidden="true" { (self.most()) }
                    svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none" role="img" aria-label=(label) {
                        @for part in 0..3_u64 {
                            line .grid x1="0" x2=(WIDTH) y1=(part * (HEIGHT - 1) / 2) y2=(part * (HEIGHT - 1) / 2) {}
                        }
                        @for (index, (at, count)) in self.points.iter().enumerate() {
                            @let x = index as u64 * width;
                            @let high = (count * (HEIGHT - 6) / most).max(u64::from(*count > 0) * 3);
                            g .span data-at=(at) data-count=(count) {
                                rect .hit x=(tenth(x)) y="0" width=(tenth(width)) height=(HEIGHT) {}
                                @if *count > 0 { rect .bar x=(tenth(x + width / 8)) y=(HEIGHT - high) width=(tenth(width * 3 / 4)) height=(high) {} }
                            }
                        }
                    }
                }
                @if let (Some((first, _)), Some((last, _))) = (self.points.first(), self.points.last()) {
                    p .axis { (clock(*first)) (clock(*last)) }
                }
            }
        }
    }
}

/// A number of tenths, as SVG writes it.
fn tenth(tenths: u64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// The same numbers as a table, for those spans in which anything was counted.
pub(crate) fn table(t: &Face, series: &[Series<'_>]) -> Markup {
    let spans = series.first().map_or(0, |one| one.points.len());
    let count = |one: &Series<'_>, at: usize| one.points.get(at).map_or(0, |(_, count)| *count);
    let busy = (0..spans).filter(|at| series.iter().any(|one| count(one, *at) > 0));
    html! {
        details .numbers {
            summary { (t.text("console-as-table")) }
            div .scroll tabindex="0" role="region" aria-label=(t.text("console-as-table")) {
                table {
                    thead { tr { th scope="col" { (t.text("console-time")) } @for one in series { th scope="col" { (one.text) } } } }
                    tbody {
                        @for at in busy {
                            tr {
                                th scope="row" { (t.time(series[0].points[at].0)) }
                                @for one in series { td .number { (count(one, at)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_bar_fills_the_picture_and_nothing_is_no_bar() {
        let series = Series {
            text: "Logins",
            class: "logins",
            points: vec![(0, 0), (60, 1), (120, 400)],
        };
        let drawn = series.render().into_string();
        assert!(drawn.contains("aria-label=\"Logins: 401\""), "{drawn}");
        assert_eq!(drawn.matches("class=\"bar\"").count(), 2, "{drawn}");
        assert!(
            drawn.contains("y=\"6\" width=\"180.0\" height=\"114\""),
            "{drawn}"
        );
        // One of four hundred is still seen.
        assert!(drawn.contains("height=\"3\""), "{drawn}");
        assert!(!drawn.contains("style="), "{drawn}");
        let numbers = table(&Face::default(), &[series]).into_string();
        assert_eq!(numbers.matches("<tr>").count(), 3, "{numbers}");
    }
}
