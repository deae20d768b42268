//! The column Targets: each metric as it is and as it should be.
//!
//! After `formatHPAMetrics` in `pkg/printers/internalversion/printers.go`.

use orlop_machinery::Value;

/// So many metrics are shown, the others counted.
const SHOWN_MAX: usize = 2;

const UNKNOWN: &str = "<unknown>";

/// The cell of these metrics and what was measured of them.
pub(super) fn cell(metrics: &Value, statuses: &Value) -> String {
    let metrics = metrics.list();
    if metrics.is_empty() {
        return "<none>".to_owned();
    }
    let texts: Vec<String> = metrics
        .iter()
        .enumerate()
        .take(SHOWN_MAX)
        .map(|(at, metric)| text(metric, statuses.list().get(at)))
        .collect();
    let texts = texts.join(", ");
    match metrics.len().saturating_sub(SHOWN_MAX) {
        0 => texts,
        more => format!("{texts} + {more} more..."),
    }
}

fn text(metric: &Value, status: Option<&Value>) -> String {
    let field = match metric.at("type").str() {
        "External" => "external",
        "Pods" => "pods",
        "Object" => "object",
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        _ => return "<unknown type>".to_owned(),
    };
    let source = metric.at(field);
    let current = status.and_then(|status| status.get(field)).map(|status| status.at("current"));
    match field {
        "pods" => values(source, current, "averageValue"),
        "external" | "object" => {
            if source.path(&["target", "averageValue"]).is_null() {
                return values(source, current, "value");
            }
            let current = current.filter(|current| !current.at("averageValue").is_null());
            values(source, current, "averageValue") + " (avg)"
        }
        _ => {
            let name = source.at("name").str();
            if !source.path(&["target", "averageValue"]).is_null() {
                return format!("{name}: {}", values(source, current, "averageValue"));
            }
            let percent = |value: &Value| value.as_int().map(|percent| format!("{percent}%"));
            let current = current.and_then(|current| percent(current.at("averageUtilization")));
            let target = percent(source.path(&["target", "averageUtilization"]));
            let current = current.unwrap_or_else(|| UNKNOWN.to_owned());
            format!("{name}: {current}/{}", target.unwrap_or_else(|| "<auto>".to_owned()))
        }
    }
}

/// `current/target`.
fn values(source: &Value, current: Option<&Value>, field: &str) -> String {
    let quantity = |value: &Value| value.as_str().unwrap_or("<nil>").to_owned();
    let current = current.map_or(UNKNOWN.to_owned(), |current| quantity(current.at(field)));
    format!("{current}/{}", quantity(source.path(&["target", field])))
}
