//! A simulated sensor: a random walk that is the same for a device in every run. Put your own sensor here.

/// One sample.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    /// Temperature in hundredths of a degree Celsius.
    pub(crate) temperature: i16,
    /// Relative humidity in hundredths of a percent.
    pub(crate) humidity: u16,
}

/// The state of the random walk.
pub(crate) struct Sensor {
    numbers: u32,
    sample: Sample,
}

impl Sensor {
    /// Begins at 21.5 °C and 47 %.
    pub(crate) fn new(identifier: &[u8; 8]) -> Sensor {
        let numbers = identifier.iter().fold(0, |number: u32, byte| number.rotate_left(7) ^ u32::from(*byte));
        Sensor { numbers, sample: Sample { temperature: 2150, humidity: 4700 } }
    }

    /// The next sample: a step of up to a tenth of a degree and of a percent, within 10 to 35 °C and 20 to 80 %.
    pub(crate) fn read(&mut self) -> Sample {
        let Sample { temperature, humidity } = self.sample;
        self.sample = Sample {
            temperature: (temperature + self.step()).clamp(1000, 3500),
            humidity: humidity.saturating_add_signed(self.step()).clamp(2000, 8000),
        };
        self.sample
    }

    /// A step of −10 to 10, from the upper bits of a linear congruential generator (Numerical Recipes).
    fn step(&mut self) -> i16 {
        self.numbers = self.numbers.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.numbers >> 16) as i16 % 11
    }
}
