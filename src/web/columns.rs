//! Columns across the worker boundary: every column is a typed array, whose buffer is handed over instead of copied.

use crate::ascend::capture::{Origins, ScannedCapture};
use crate::ascend::operator_memory::{DeviceBlocks, Pool};
use crate::ascend::stacks::{Reason, Stacks};
use crate::timeline::blocks::{Blocks, Freed, Totals};
use crate::timeline::folded::Folded;
use crate::timeline::replay::{Curves, Replay};
use js_sys::{Array, BigInt64Array, Object, Reflect, Uint8Array, Uint32Array};
use wasm_bindgen::{JsCast, JsError, JsValue};

/// `{facts, around, devices: [{device, pool, names, streams, …columns}], transfer: [buffers]}`
pub fn to_js(scanned: &ScannedCapture) -> Result<JsValue, JsError> {
    let transfer = Array::new();
    let devices = Array::new();
    for device in &scanned.devices {
        devices.push(&device_to_js(device, &transfer)?.into());
    }
    let whole = Object::new();
    set(&whole, "facts", &serde_json::to_string(&scanned.facts)?.into());
    set(&whole, "around", &serde_json::to_string(&scanned.around)?.into());
    set(&whole, "devices", &devices);
    set(&whole, "transfer", &transfer);
    Ok(whole.into())
}

/// The inverse of [`to_js`].
pub fn from_js(value: &JsValue) -> Result<ScannedCapture, JsError> {
    let devices = list(value, "devices")?.iter().map(|device| device_from_js(&device)).collect::<Result<_, _>>()?;
    Ok(ScannedCapture { facts: json(value, "facts")?, devices, around: json(value, "around")? })
}

/// `{phases, warnings, stacks: [{texts, of_block, nearest, reasons}], transfer: [buffers]}`
pub fn origins_to_js(origins: &Origins) -> Result<JsValue, JsError> {
    let transfer = Array::new();
    let stacks = Array::new();
    for device in &origins.stacks {
        let object = Object::new();
        set(&object, "texts", &texts(&device.texts));
        put_u32(&object, "of_block", &device.of_block, &transfer);
        put_u32(&object, "nearest", &device.nearest, &transfer);
        let reasons: Vec<u8> = device.reasons.iter().map(|&reason| reason as u8).collect();
        let reasons = Uint8Array::from(&reasons[..]);
        transfer.push(&reasons.buffer());
        set(&object, "reasons", &reasons);
        stacks.push(&object);
    }
    let whole = Object::new();
    set(&whole, "phases", &serde_json::to_string(&origins.phases)?.into());
    set(&whole, "warnings", &serde_json::to_string(&origins.warnings)?.into());
    set(&whole, "stacks", &stacks);
    set(&whole, "transfer", &transfer);
    Ok(whole.into())
}

/// The inverse of [`origins_to_js`].
pub fn origins_from_js(value: &JsValue) -> Result<Origins, JsError> {
    let stacks = |value: JsValue| {
        let reasons = get(&value, "reasons")?.dyn_into::<Uint8Array>().map_err(|_| JsError::new("reasons"))?.to_vec();
        let reasons = reasons.into_iter().map(|number| Reason::ALL.get(number as usize).copied().ok_or_else(|| JsError::new("no such reason")));
        Ok(Stacks {
            texts: texts_from(&get(&value, "texts")?),
            of_block: u32s(&value, "of_block")?,
            reasons: reasons.collect::<Result<_, _>>()?,
            nearest: u32s(&value, "nearest")?,
        })
    };
    let stacks = list(value, "stacks")?.iter().map(stacks).collect::<Result<_, JsError>>()?;
    Ok(Origins { stacks, phases: json(value, "phases")?, warnings: json(value, "warnings")? })
}

fn device_to_js(device: &DeviceBlocks, transfer: &Array) -> Result<Object, JsError> {
    let blocks = &device.blocks;
    let object = Object::new();
    set(&object, "device", &device.device.as_str().into());
    set(&object, "pool", &device.pool.name().into());
    set(&object, "names", &texts(&blocks.names));
    set(&object, "streams", &texts(&blocks.streams));
    for (key, column) in [("name", &blocks.name), ("stream", &blocks.stream), ("line", &blocks.line)] {
        put_u32(&object, key, column, transfer);
    }
    for (key, column) in
        [("size_bytes", &blocks.size_bytes), ("start_ns", &blocks.start_ns), ("end_ns", &blocks.end_ns), ("active_end_ns", &blocks.active_end_ns)]
    {
        put_i64(&object, key, column, transfer);
    }
    set(&object, "at_start", &totals_to_js(&blocks.at_start, transfer));
    set(&object, "at_end", &totals_to_js(&blocks.at_end, transfer));
    put_i64(&object, "freed_time_ns", &blocks.freed.time_ns, transfer);
    put_i64(&object, "freed_size_bytes", &blocks.freed.size_bytes, transfer);
    set(&object, "freed_totals", &totals_to_js(&blocks.freed.totals, transfer));
    if let Some((folded, replay)) = blocks.folded.as_deref().zip(device.replay.as_ref()) {
        set(&object, "folded", &folded_to_js(folded, replay, transfer)?.into());
    }
    Ok(object)
}

/// `{sums, drops, rises, …columns of the curves}`: of a pool of which blocks were folded.
fn folded_to_js(folded: &Folded, replay: &Replay, transfer: &Array) -> Result<Object, JsError> {
    let object = Object::new();
    set(&object, "sums", &serde_json::to_string(folded)?.into());
    set(&object, "drops", &serde_json::to_string(&replay.drops)?.into());
    set(&object, "rises", &serde_json::to_string(&replay.rises)?.into());
    let curves = &replay.curves;
    for (key, column) in [
        ("time_ns", &curves.time_ns),
        ("tracked_bytes", &curves.tracked_bytes),
        ("baseline_bytes", &curves.baseline_bytes),
        ("reserved_bytes", &curves.reserved_bytes),
        ("active_bytes", &curves.active_bytes),
        ("alive_bytes", &folded.alive_bytes),
    ] {
        put_i64(&object, key, column, transfer);
    }
    put_u32(&object, "alive_blocks", &folded.alive_blocks, transfer);
    Ok(object)
}

/// The inverse of [`folded_to_js`].
fn folded_from_js(value: &JsValue) -> Result<(Folded, Replay), JsError> {
    let sums: Folded = json(value, "sums")?;
    let folded = Folded { alive_bytes: i64s(value, "alive_bytes")?, alive_blocks: u32s(value, "alive_blocks")?, ..sums };
    let curves = Curves {
        time_ns: i64s(value, "time_ns")?,
        tracked_bytes: i64s(value, "tracked_bytes")?,
        baseline_bytes: i64s(value, "baseline_bytes")?,
        reserved_bytes: i64s(value, "reserved_bytes")?,
        active_bytes: i64s(value, "active_bytes")?,
    };
    Ok((folded, Replay { peak: curves.peak(), curves, drops: json(value, "drops")?, rises: json(value, "rises")? }))
}

fn device_from_js(value: &JsValue) -> Result<DeviceBlocks, JsError> {
    let text = |key| get(value, key).map(|text| text.as_string().unwrap_or_default());
    let folded = get(value, "folded")?;
    let (folded, replay) =
        if folded.is_undefined() { (None, None) } else { folded_from_js(&folded).map(|(folded, replay)| (Some(Box::new(folded)), Some(replay)))? };
    let blocks = Blocks {
        folded,
        names: texts_from(&get(value, "names")?),
        streams: texts_from(&get(value, "streams")?),
        name: u32s(value, "name")?,
        stream: u32s(value, "stream")?,
        size_bytes: i64s(value, "size_bytes")?,
        start_ns: i64s(value, "start_ns")?,
        end_ns: i64s(value, "end_ns")?,
        active_end_ns: i64s(value, "active_end_ns")?,
        line: u32s(value, "line")?,
        at_start: totals_from_js(&get(value, "at_start")?)?,
        at_end: totals_from_js(&get(value, "at_end")?)?,
        freed: Freed {
            time_ns: i64s(value, "freed_time_ns")?,
            size_bytes: i64s(value, "freed_size_bytes")?,
            totals: totals_from_js(&get(value, "freed_totals")?)?,
        },
    };
    let pool = Pool::from_name(&text("pool")?).ok_or_else(|| JsError::new("no such pool"))?;
    Ok(DeviceBlocks { device: text("device")?, pool, blocks, replay })
}

fn totals_to_js(totals: &Totals, transfer: &Array) -> Object {
    let object = Object::new();
    put_i64(&object, "allocated_bytes", &totals.allocated_bytes, transfer);
    put_i64(&object, "reserved_bytes", &totals.reserved_bytes, transfer);
    put_i64(&object, "active_bytes", &totals.active_bytes, transfer);
    put_u32(&object, "tolerance_millibytes", &totals.tolerance_millibytes, transfer);
    object
}

fn totals_from_js(value: &JsValue) -> Result<Totals, JsError> {
    Ok(Totals {
        allocated_bytes: i64s(value, "allocated_bytes")?,
        reserved_bytes: i64s(value, "reserved_bytes")?,
        active_bytes: i64s(value, "active_bytes")?,
        tolerance_millibytes: u32s(value, "tolerance_millibytes")?,
    })
}

pub(super) fn texts(texts: &[String]) -> Array {
    texts.iter().map(|text| JsValue::from_str(text)).collect()
}

pub(super) fn texts_from(value: &JsValue) -> Vec<String> {
    Array::from(value).iter().map(|text| text.as_string().unwrap_or_default()).collect()
}

pub(super) fn put_u32(object: &Object, key: &str, column: &[u32], transfer: &Array) {
    let array = Uint32Array::from(column);
    transfer.push(&array.buffer());
    set(object, key, &array);
}

pub(super) fn put_i64(object: &Object, key: &str, column: &[i64], transfer: &Array) {
    let array = BigInt64Array::from(column);
    transfer.push(&array.buffer());
    set(object, key, &array);
}

pub(super) fn u32s(value: &JsValue, key: &str) -> Result<Vec<u32>, JsError> {
    get(value, key)?.dyn_into::<Uint32Array>().map(|array| array.to_vec()).map_err(|_| JsError::new(key))
}

pub(super) fn i64s(value: &JsValue, key: &str) -> Result<Vec<i64>, JsError> {
    get(value, key)?.dyn_into::<BigInt64Array>().map(|array| array.to_vec()).map_err(|_| JsError::new(key))
}

pub(super) fn list(value: &JsValue, key: &str) -> Result<Array, JsError> {
    get(value, key)?.dyn_into().map_err(|_| JsError::new(key))
}

pub(super) fn json<T: serde::de::DeserializeOwned>(value: &JsValue, key: &str) -> Result<T, JsError> {
    Ok(serde_json::from_str(&get(value, key)?.as_string().unwrap_or_default())?)
}

pub(super) fn get(value: &JsValue, key: &str) -> Result<JsValue, JsError> {
    Reflect::get(value, &key.into()).map_err(|_| JsError::new(key))
}

/// Sets a key of an object made here, which cannot fail.
pub fn set(object: &Object, key: &str, value: &JsValue) {
    let _ = Reflect::set(object, &key.into(), value);
}
