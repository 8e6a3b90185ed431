//! The screen and the window of an emulated device.

use serde_json::{Value, json};

use crate::request::{Device, Viewport};

impl Device {
    /// Returns the default size of its window.
    pub(crate) fn viewport(self) -> Viewport {
        match self {
            Self::Desktop => Viewport { width: 1280, height: 800 },
            Self::Mobile => Viewport { width: 390, height: 844 },
        }
    }

    /// Returns its device pixel ratio: physical pixels per CSS pixel.
    pub(crate) fn scale(self) -> u32 {
        match self {
            Self::Desktop => 1,
            Self::Mobile => 3,
        }
    }
}

/// Returns the parameters of `Emulation.setDeviceMetricsOverride` for a device with a window of this size.
pub(crate) fn device_metrics(device: Device, viewport: Viewport) -> Value {
    json!({
        "width": viewport.width,
        "height": viewport.height,
        "screenWidth": viewport.width,
        "screenHeight": viewport.height,
        "deviceScaleFactor": device.scale(),
        "mobile": device == Device::Mobile,
    })
}
