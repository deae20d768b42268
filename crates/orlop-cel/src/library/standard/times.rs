//! The parts of points in time, in UTC or in a time zone, and of spans of time.
//!
//! After `common/types/{timestamp,duration}.go` of cel-go: months, days of months and days of years
//! count from 0, dates from 1.

use orlop_machinery::duration::Duration;

use crate::error::EvalError;
use crate::function::{Function, Overload, T};
use crate::timestamp::{Civil, Timestamp};
use crate::value::Value;

use super::Called;
use super::zones::offset_seconds;

const TIME: &[T] = &[T::Timestamp];
const TIME_IN_ZONE: &[T] = &[T::Timestamp, T::String];
const SPAN: &[T] = &[T::Duration];

/// A part of a point in time.
macro_rules! part {
    ($name:literal, $id:literal, $part:expr) => {
        Function {
            name: $name,
            overloads: &[
                Overload::member(concat!("timestamp_to_", $id), TIME, T::Int, |_, args| {
                    civil(args, $part)
                }),
                Overload::member(
                    concat!("timestamp_to_", $id, "_with_tz"),
                    TIME_IN_ZONE,
                    T::Int,
                    |_, args| civil(args, $part),
                ),
            ],
        }
    };
    ($name:literal, $id:literal, $part:expr, $span:expr) => {
        Function {
            name: $name,
            overloads: &[
                Overload::member(concat!("timestamp_to_", $id), TIME, T::Int, |_, args| {
                    civil(args, $part)
                }),
                Overload::member(
                    concat!("timestamp_to_", $id, "_with_tz"),
                    TIME_IN_ZONE,
                    T::Int,
                    |_, args| civil(args, $part),
                ),
                Overload::member(concat!("duration_to_", $id), SPAN, T::Int, |_, args| {
                    span(args, $span)
                }),
            ],
        }
    };
}

pub(super) const GET_FULL_YEAR: Function = part!("getFullYear", "year", |civil, _| civil.year);
pub(super) const GET_MONTH: Function = part!("getMonth", "month", |civil, _| civil.month - 1);
pub(super) const GET_DAY_OF_YEAR: Function =
    part!("getDayOfYear", "day_of_year", |civil, _| civil.day_of_year);
pub(super) const GET_DAY_OF_MONTH: Function =
    part!("getDayOfMonth", "day_of_month", |civil, _| civil.day - 1);
pub(super) const GET_DATE: Function =
    part!("getDate", "day_of_month_1_based", |civil, _| civil.day);
pub(super) const GET_DAY_OF_WEEK: Function =
    part!("getDayOfWeek", "day_of_week", |civil, _| civil.weekday);
pub(super) const GET_HOURS: Function =
    part!("getHours", "hours", |civil, _| civil.hour, |nanos| nanos / 3_600_000_000_000);
pub(super) const GET_MINUTES: Function =
    part!("getMinutes", "minutes", |civil, _| civil.minute, |nanos| nanos / 60_000_000_000);
pub(super) const GET_SECONDS: Function =
    part!("getSeconds", "seconds", |civil, _| civil.second, |nanos| nanos / 1_000_000_000);
pub(super) const GET_MILLISECONDS: Function = part!(
    "getMilliseconds",
    "milliseconds",
    |_, time| i64::from(time.nanos() / 1_000_000),
    |nanos| nanos / 1_000_000
);

fn civil<'a>(args: &[Value<'a>], part: fn(Civil, Timestamp) -> i64) -> Called<'a> {
    let (time, offset) = match args {
        [Value::Timestamp(time)] => (*time, 0),
        [Value::Timestamp(time), Value::String(zone)] => (*time, offset_seconds(*time, zone)?),
        _ => return Err(EvalError::NoSuchOverload),
    };
    Ok(Value::Int(part(time.civil(offset), time)))
}

fn span<'a>(args: &[Value<'a>], part: fn(i64) -> i64) -> Called<'a> {
    match args {
        [Value::Duration(duration)] => Ok(Value::Int(part(Duration::as_nanos(*duration)))),
        _ => Err(EvalError::NoSuchOverload),
    }
}
