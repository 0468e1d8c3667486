//! A chart of one or several panels with the same axes, drawn as SVG.

use std::{ops::Range, path::Path};

use plotters::{
    coord::{
        Shift,
        ranged1d::{Ranged, ValueFormatter},
    },
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use crate::client::Failure;
use crate::report::text::number;

/// What is drawn.
pub(super) struct Chart {
    /// Name of the file, without its ending.
    pub(super) file: String,
    pub(super) title: String,
    pub(super) x: String,
    pub(super) y: String,
    /// Whether x and y are logarithmic.
    pub(super) logarithmic: (bool, bool),
    pub(super) panels: Vec<Panel>,
}

pub(super) struct Panel {
    pub(super) title: String,
    pub(super) series: Vec<Series>,
    /// Vertical lines, and what they say.
    pub(super) marks: Vec<(f64, String)>,
}

pub(super) struct Series {
    pub(super) label: String,
    pub(super) look: Look,
    pub(super) points: Vec<(f64, f64)>,
    /// Of bars: what each is of.
    pub(super) names: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// In the n-th colour.
    Line(usize),
    /// What others have published.
    Grey,
    /// A floor.
    Dashed,
    Bar,
    /// What others have published, behind the bar.
    GreyBar,
}

impl Series {
    pub(super) fn new(label: &str, look: Look, points: Vec<(f64, f64)>) -> Series {
        Series {
            label: label.to_owned(),
            look,
            points,
            names: Vec::new(),
        }
    }
}

const PANEL: (u32, u32) = (380, 300);
const ALONE: (u32, u32) = (860, 460);
const HEAD: u32 = 64;
const GREY: RGBColor = RGBColor(150, 150, 150);
/// Told apart by people who see few colours, too (Okabe and Ito).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
];

impl Look {
    fn colour(self) -> RGBColor {
        match self {
            Look::Line(at) => COLOURS[at % COLOURS.len()],
            Look::Grey | Look::GreyBar => GREY,
            Look::Dashed => BLACK,
            Look::Bar => COLOURS[0],
        }
    }
}

impl Chart {
    /// `place`: where the figures are from.
    pub(super) fn draw(&self, path: &Path, place: &str) -> Result<(), Failure> {
        let columns = self.panels.len().clamp(1, 4);
        let rows = self.panels.len().div_ceil(columns).max(1);
        let size = if self.panels.len() == 1 { ALONE } else { PANEL };
        let (width, height) = (size.0 * columns as u32, size.1 * rows as u32 + HEAD);
        let root = SVGBackend::new(path, (width, height)).into_drawing_area();
        let failed = |error: DrawingAreaErrorKind<_>| -> Failure { error.to_string().into() };
        root.fill(&WHITE).map_err(failed)?;
        let text = |size: i32, colour: &RGBColor| ("sans-serif", size).into_font().color(colour);
        root.draw(&Text::new(self.title.clone(), (12, 10), text(20, &BLACK)))
            .map_err(failed)?;
        root.draw(&Text::new(place.to_owned(), (12, 38), text(12, &GREY)))
            .map_err(failed)?;
        let (_, body) = root.split_vertically(HEAD);
        for (area, panel) in body.split_evenly((rows, columns)).iter().zip(&self.panels) {
            // Sides that are logarithmic have a type of their own.
            let (x, y) = self.ranges(panel);
            let drawn = match self.logarithmic {
                (false, false) => self.panel(area, panel, x.clone(), y.clone(), (x, y)),
                (false, true) => self.panel(area, panel, x.clone(), y.clone().log_scale(), (x, y)),
                (true, false) => self.panel(area, panel, x.clone().log_scale(), y.clone(), (x, y)),
                (true, true) => self.panel(
                    area,
                    panel,
                    x.clone().log_scale(),
                    y.clone().log_scale(),
                    (x, y),
                ),
            };
            drawn?;
        }
        root.present().map_err(failed)?;
        Ok(())
    }

    /// All panels of a chart have the same y axis: what is compared looks as it is.
    fn ranges(&self, panel: &Panel) -> (Range<f64>, Range<f64>) {
        let bars = panel.series.iter().any(|series| series.look == Look::Bar);
        let own = panel.series.iter().flat_map(|series| &series.points);
        let all = self.panels.iter().flat_map(|panel| &panel.series);
        let all = all.flat_map(|series| &series.points);
        let (x_low, x_high) = bounds(own.map(|(x, _)| *x));
        let (y_low, y_high) = bounds(all.map(|(_, y)| *y));
        let x = match (bars, self.logarithmic.0) {
            (true, _) => -0.6..x_high + 0.6,
            (false, true) => x_low * 0.85..x_high * 1.2,
            (false, false) => x_low.min(1.0) - 0.4..x_high + 0.4,
        };
        let y = match self.logarithmic.1 {
            true => y_low * 0.6..y_high * 1.8,
            false => 0.0..y_high * 1.15,
        };
        (x, y)
    }

    fn panel<X, Y>(
        &self,
        area: &DrawingArea<SVGBackend<'_>, Shift>,
        panel: &Panel,
        x: X,
        y: Y,
        (_, values): (Range<f64>, Range<f64>),
    ) -> Result<(), Failure>
    where
        X: plotters::coord::ranged1d::AsRangedCoord<Value = f64>,
        Y: plotters::coord::ranged1d::AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
        Y::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
    {
        let failed = |error: DrawingAreaErrorKind<_>| -> Failure { error.to_string().into() };
        let mut builder = ChartBuilder::on(area);
        builder
            .margin(10)
            .x_label_area_size(44)
            .y_label_area_size(66);
        if !panel.title.is_empty() {
            builder.caption(&panel.title, ("sans-serif", 15));
        }
        let mut chart = builder.build_cartesian_2d(x, y).map_err(failed)?;
        let names: Vec<String> = panel.series.iter().flat_map(|s| s.names.clone()).collect();
        let label = |x: &f64| match names.is_empty() {
            true => number(*x),
            false => String::new(),
        };
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(RGBColor(225, 225, 225))
            .x_desc(&self.x)
            .y_desc(&self.y)
            .x_labels(if names.is_empty() { 8 } else { 1 })
            .y_labels(7)
            .x_label_formatter(&label)
            .y_label_formatter(&|y| number(*y))
            .draw()
            .map_err(failed)?;
        for series in &panel.series {
            let colour = series.look.colour();
            let points = series.points.clone();
            if points.is_empty() {
                continue;
            }
            let legend = move |(x, y): (i32, i32)| {
                PathElement::new(vec![(x, y), (x + 16, y)], colour.stroke_width(3))
            };
            match series.look {
                Look::Line(_) | Look::Grey => {
                    let line = LineSeries::new(points.clone(), colour.stroke_width(2));
                    let drawn = chart.draw_series(line).map_err(failed)?;
                    drawn.label(&series.label).legend(legend);
                    let dots = points
                        .into_iter()
                        .map(|at| Circle::new(at, 3, colour.filled()));
                    chart.draw_series(dots).map_err(failed)?;
                }
                Look::Dashed => {
                    let line = DashedLineSeries::new(points, 5, 4, colour.stroke_width(1));
                    let drawn = chart.draw_series(line).map_err(failed)?;
                    drawn.label(&series.label).legend(legend);
                }
                Look::Bar | Look::GreyBar => {
                    let half = if series.look == Look::Bar { 0.22 } else { 0.38 };
                    let bars = points.iter().map(|&(x, y)| {
                        Rectangle::new([(x - half, values.start), (x + half, y)], colour.filled())
                    });
                    let drawn = chart.draw_series(bars).map_err(failed)?;
                    drawn.label(&series.label).legend(legend);
                }
            }
            let small = ("sans-serif", 12).into_font().color(&BLACK);
            let above = small.clone().pos(Pos::new(HPos::Center, VPos::Bottom));
            for ((x, y), name) in series.points.iter().zip(&series.names) {
                let text = Text::new(number(*y), (*x, *y), above.clone());
                chart.draw_series([text]).map_err(failed)?;
                let (px, py) = chart.backend_coord(&(*x, values.start));
                let below = small.clone().pos(Pos::new(HPos::Center, VPos::Top));
                let (left, top) = area.get_base_pixel();
                let text = Text::new(name.clone(), (px - left, py - top + 6), below);
                area.draw(&text).map_err(failed)?;
            }
        }
        for (at, said) in &panel.marks {
            let line = [(*at, values.start), (*at, values.end)];
            let line = DashedLineSeries::new(line, 3, 3, BLACK.stroke_width(1));
            chart.draw_series(line).map_err(failed)?;
            let style = ("sans-serif", 12).into_font().color(&BLACK);
            let style = style.pos(Pos::new(HPos::Right, VPos::Top));
            let text = Text::new(format!("{said}  "), (*at, values.end), style);
            chart.draw_series([text]).map_err(failed)?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.85))
            .label_font(("sans-serif", 12))
            .draw()
            .map_err(failed)?;
        Ok(())
    }
}

/// Least and greatest of what is above zero and finite; 1 to 10 where there is nothing.
fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let values = values.filter(|value| value.is_finite() && *value > 0.0);
    let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if low.is_finite() {
        (low, high)
    } else {
        (1.0, 10.0)
    }
}
