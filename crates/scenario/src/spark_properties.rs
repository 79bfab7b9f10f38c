//! Keys of `[spark]` that stand for properties of Spark's own: one table, by which a testbed tells Spark what a scenario
//! says, and an import has of a log what Spark was told. Units and defaults are those of Spark 4.1.1's own entries
//! (`org.apache.spark.internal.config`, `SQLConf`, `org.apache.spark.deploy.yarn.config`).

use super::key::key_name;
use super::{Spark, SparkAllocation, SparkExclusion, SparkYarn};
use units::{Bytes, Quantity, Time};

/// What a property counts in: a number without a unit means so many, and parts of one are cut off (`JavaUtils`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SparkUnit {
    /// A switch, a count or a number, as `spark.speculation`.
    None,
    /// A time of which Spark takes whole milliseconds, as `spark.locality.wait`.
    Milliseconds,
    /// A time of which Spark takes whole seconds, as `spark.dynamicAllocation.executorIdleTimeout`.
    Seconds,
    /// A size to the byte, as `spark.sql.adaptive.advisoryPartitionSizeInBytes`.
    Bytes,
    /// A size of which Spark takes whole units of 1,024 B, as `spark.broadcast.blockSize`.
    Kib,
    /// A size of which Spark takes whole units of 1,048,576 B, as `spark.executor.memory`.
    Mib,
}

/// What a property is about. An import has some groups where the log shows that they matter, and some by other rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SparkGroup {
    /// Where tasks run and what they fetch.
    Scheduling,
    /// What executors are, and after how many failures a job fails.
    Resources,
    /// Memory for data sets that are kept, and who reads them where.
    Kept,
    /// How variables are broadcast.
    Broadcast,
    /// Adaptive execution of SQL.
    Sql,
    /// Executors that come and go.
    Allocation,
    /// Executors that are excluded.
    Exclusion,
    /// Containers of YARN.
    Yarn,
    /// The container of the ApplicationMaster in client mode: in cluster mode it has other properties.
    YarnMaster,
}

/// A key and the property that it stands for.
#[derive(Clone, Copy, Debug)]
pub struct SparkProperty {
    /// Its name, as `spark.locality.wait`.
    pub name: &'static str,
    /// What it is about.
    pub group: SparkGroup,
    /// What it counts in.
    pub unit: SparkUnit,
    /// The field, behind those of the tables that it is in.
    path: &'static [&'static str],
    get: fn(&Spark) -> Option<Setting>,
    take: fn(&mut Spark, &str, SparkUnit) -> bool,
}

/// A value of a key.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Setting {
    Switch(bool),
    Count(u32),
    Number(f64),
    Time(Time),
    Size(Bytes),
}

/// A field with such a value.
trait Field: Sized {
    fn get(&self) -> Option<Setting>;
    fn read(text: &str, unit: SparkUnit) -> Option<Self>;

    /// Sets it to what a text says; false where that is not understood.
    fn take(&mut self, text: &str, unit: SparkUnit) -> bool {
        let Some(value) = Self::read(text.trim(), unit) else { return false };
        *self = value;
        true
    }
}

macro_rules! field {
    ($($type:ty: $variant:ident = $read:expr;)*) => {$(
        impl Field for $type {
            fn get(&self) -> Option<Setting> {
                Some(Setting::$variant(*self))
            }

            fn read(text: &str, unit: SparkUnit) -> Option<Self> {
                $read(text, unit)
            }
        }
    )*};
}
field! {
    bool: Switch = |text: &str, _| text.to_ascii_lowercase().parse().ok();
    u32: Count = |text: &str, _| text.parse().ok();
    f64: Number = |text: &str, _| text.parse().ok().filter(|number: &f64| number.is_finite());
    Time: Time = time;
    Bytes: Size = size;
}

impl<F: Field> Field for Option<F> {
    fn get(&self) -> Option<Setting> {
        self.as_ref().and_then(Field::get)
    }

    fn read(text: &str, unit: SparkUnit) -> Option<Self> {
        F::read(text, unit).map(Some)
    }
}

/// The table: `name: unit => field`, by groups. A group's fields are those of `[spark]` itself, or of one table there
/// that may be left out: `[field Type]`.
macro_rules! properties {
    ($($group:ident $of:tt { $( $name:literal : $unit:ident => $field:ident ; )+ })+) => {
        &[$($( SparkProperty {
            name: $name,
            group: SparkGroup::$group,
            unit: SparkUnit::$unit,
            path: properties!(@path $of $field),
            get: properties!(@get $of $field),
            take: properties!(@take $of $field),
        }, )+)+]
    };
    (@path [] $field:ident) => { &[stringify!($field)] };
    (@path [$table:ident $type:ty] $field:ident) => { &[stringify!($table), stringify!($field)] };
    (@get [] $field:ident) => { |spark: &Spark| Field::get(&spark.$field) };
    (@get [$table:ident $type:ty] $field:ident) => {
        |spark: &Spark| spark.$table.as_ref().and_then(|of: &$type| Field::get(&of.$field))
    };
    (@take [] $field:ident) => { |spark: &mut Spark, text, unit| Field::take(&mut spark.$field, text, unit) };
    (@take [$table:ident $type:ty] $field:ident) => {
        |spark: &mut Spark, text, unit| {
            spark.$table.as_mut().is_none_or(|of: &mut $type| Field::take(&mut of.$field, text, unit))
        }
    };
}

impl SparkProperty {
    /// All of them.
    pub const ALL: &'static [Self] = properties! {
        Scheduling [] {
            "spark.locality.wait": Milliseconds => locality_wait;
            "spark.locality.wait.node": Milliseconds => locality_wait_node;
            "spark.shuffle.reduceLocality.enabled": None => reduce_locality;
            "spark.reducer.maxSizeInFlight": Mib => reducer_max_size_in_flight;
            "spark.reducer.maxReqsInFlight": None => reducer_max_reqs_in_flight;
            "spark.reducer.maxBlocksInFlightPerAddress": None => reducer_max_blocks_in_flight_per_address;
            "spark.scheduler.revive.interval": Milliseconds => revive_interval;
            "spark.speculation": None => speculation;
            "spark.speculation.interval": Milliseconds => speculation_interval;
            "spark.speculation.multiplier": None => speculation_multiplier;
            "spark.speculation.quantile": None => speculation_quantile;
            "spark.speculation.minTaskRuntime": Milliseconds => speculation_min_task_runtime;
        }
        Resources [] {
            "spark.executor.cores": None => executor_cores;
            "spark.task.maxFailures": None => task_max_failures;
            "spark.shuffle.service.enabled": None => shuffle_service;
        }
        Kept [] {
            "spark.executor.memory": Mib => executor_memory;
            "spark.memory.fraction": None => memory_fraction;
            "spark.locality.wait.process": Milliseconds => locality_wait_process;
        }
        Broadcast [] {
            "spark.broadcast.blockSize": Kib => broadcast_block_size;
        }
        Sql [] {
            "spark.sql.adaptive.enabled": None => adaptive;
            "spark.sql.adaptive.coalescePartitions.enabled": None => adaptive_coalesce_partitions;
            "spark.sql.adaptive.advisoryPartitionSizeInBytes": Bytes => adaptive_advisory_partition_size;
            "spark.sql.adaptive.coalescePartitions.minPartitionSize": Bytes => adaptive_min_partition_size;
            "spark.sql.adaptive.coalescePartitions.parallelismFirst": None => adaptive_parallelism_first;
            "spark.sql.adaptive.skewJoin.enabled": None => adaptive_skew_join;
            "spark.sql.adaptive.skewJoin.skewedPartitionFactor": None => adaptive_skewed_partition_factor;
            "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": Bytes => adaptive_skewed_partition_threshold;
        }
        Allocation [dynamic_allocation SparkAllocation] {
            "spark.dynamicAllocation.minExecutors": None => min_executors;
            "spark.dynamicAllocation.maxExecutors": None => max_executors;
            "spark.dynamicAllocation.initialExecutors": None => initial_executors;
            "spark.dynamicAllocation.executorAllocationRatio": None => executor_allocation_ratio;
            "spark.dynamicAllocation.schedulerBacklogTimeout": Seconds => scheduler_backlog_timeout;
            "spark.dynamicAllocation.sustainedSchedulerBacklogTimeout": Seconds => sustained_scheduler_backlog_timeout;
            "spark.dynamicAllocation.executorIdleTimeout": Seconds => executor_idle_timeout;
            "spark.dynamicAllocation.cachedExecutorIdleTimeout": Seconds => cached_executor_idle_timeout;
            "spark.dynamicAllocation.shuffleTracking.enabled": None => shuffle_tracking;
            "spark.dynamicAllocation.shuffleTracking.timeout": Milliseconds => shuffle_tracking_timeout;
        }
        Exclusion [exclude_on_failure SparkExclusion] {
            "spark.excludeOnFailure.application.enabled": None => application;
            "spark.excludeOnFailure.taskAndStage.enabled": None => task_and_stage;
            "spark.excludeOnFailure.task.maxTaskAttemptsPerExecutor": None => task_attempts_per_executor;
            "spark.excludeOnFailure.task.maxTaskAttemptsPerNode": None => task_attempts_per_node;
            "spark.excludeOnFailure.stage.maxFailedTasksPerExecutor": None => stage_failed_tasks_per_executor;
            "spark.excludeOnFailure.stage.maxFailedExecutorsPerNode": None => stage_failed_executors_per_node;
            "spark.excludeOnFailure.application.maxFailedTasksPerExecutor": None
                => application_failed_tasks_per_executor;
            "spark.excludeOnFailure.application.maxFailedExecutorsPerNode": None
                => application_failed_executors_per_node;
            "spark.excludeOnFailure.timeout": Milliseconds => timeout;
            "spark.excludeOnFailure.killExcludedExecutors": None => kill_excluded_executors;
            "spark.excludeOnFailure.application.fetchFailure.enabled": None => fetch_failure;
            "spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout": Seconds => unschedulable_timeout;
        }
        Yarn [yarn SparkYarn] {
            "spark.executor.instances": None => instances;
            "spark.executor.memoryOverhead": Mib => executor_memory_overhead;
            "spark.yarn.maxAppAttempts": None => max_attempts;
            "spark.yarn.scheduler.heartbeat.interval-ms": Milliseconds => heartbeat;
            "spark.yarn.scheduler.initial-allocation.interval": Milliseconds => initial_allocation;
            "spark.scheduler.minRegisteredResourcesRatio": None => min_registered;
            "spark.scheduler.maxRegisteredResourcesWaitingTime": Milliseconds => max_registered_wait;
            "spark.locality.wait.rack": Milliseconds => locality_wait_rack;
        }
        YarnMaster [yarn SparkYarn] {
            "spark.yarn.am.memory": Mib => am_memory;
            "spark.yarn.am.memoryOverhead": Mib => am_memory_overhead;
            "spark.yarn.am.cores": None => am_cores;
        }
    };

    /// The key, as `spark.locality-wait`.
    pub fn key(&self) -> String {
        self.path.iter().fold("spark".to_owned(), |key, field| format!("{key}.{}", key_name(field)))
    }

    /// The property's value as Spark takes it; none where the key is left out without a value.
    pub fn written(&self, spark: &Spark) -> Option<String> {
        Some(match (self.get)(spark)? {
            Setting::Switch(on) => on.to_string(),
            Setting::Count(count) => count.to_string(),
            Setting::Number(number) => number.to_string(),
            Setting::Time(time) => {
                let (unit, word) = self.unit.of_times();
                format!("{}{word}", time.as_ps().div_ceil(unit.as_ps()))
            }
            Setting::Size(size) => {
                let (unit, word) = self.unit.of_sizes();
                format!("{}{word}", size.get().div_ceil(unit))
            }
        })
    }

    /// Where Spark would cut off a part of a key's value, as it counts in larger units: the value, the next one that
    /// Spark can take, and its unit.
    pub fn cut_off(&self, spark: &Spark) -> Option<[String; 3]> {
        let next = |value: u64, unit: u64| value.div_ceil(unit) * unit;
        match (self.get)(spark)? {
            Setting::Time(time) => {
                let unit = self.unit.of_times().0;
                let next = Time::from_ps(next(time.as_ps(), unit.as_ps()));
                (next != time).then(|| [time, next, unit].map(Quantity::exact))
            }
            Setting::Size(size) => {
                let unit = self.unit.of_sizes().0;
                let next = Bytes::new(next(size.get(), unit));
                (next != size).then(|| [size, next, Bytes::new(unit)].map(Quantity::exact))
            }
            Setting::Switch(_) | Setting::Count(_) | Setting::Number(_) => None,
        }
    }

    /// Sets the key to what a property's text says; false where that is not understood. What is beyond a key's range is
    /// brought into it by [`Section::clamp`](super::key::Section::clamp).
    pub fn take(&self, spark: &mut Spark, text: &str) -> bool {
        (self.take)(spark, text, self.unit)
    }
}

impl SparkUnit {
    /// The unit of a property that is a time.
    const fn of_times(self) -> (Time, &'static str) {
        if matches!(self, Self::Seconds) { (Time::from_secs(1), "s") } else { (Time::from_ms(1), "ms") }
    }

    /// The unit of a property that is a size.
    const fn of_sizes(self) -> (u64, &'static str) {
        match self {
            Self::Mib => (1 << 20, "m"),
            Self::Kib => (1 << 10, "k"),
            _ => (1, "b"),
        }
    }
}

/// The longest time that a log may say.
const LONGEST: Time = Time::from_secs(604_800);

/// A time as Spark reads it, such as `3s`, `500ms` or `2min`: a bare number counts in the property's unit, and parts of
/// one are cut off.
pub fn time(text: &str, unit: SparkUnit) -> Option<Time> {
    let (number, word) = split(text)?;
    let of_unit = unit.of_times().0;
    let seconds = match word.as_str() {
        "" => of_unit.as_secs_f64(),
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    let time = Time::from_secs_f64((number * seconds).clamp(0.0, LONGEST.as_secs_f64()));
    Some(Time::from_ps(time.as_ps() / of_unit.as_ps() * of_unit.as_ps()))
}

/// A size as Spark reads it, such as `48m` or `1g`, in powers of 1,024: a bare number counts in the property's unit, and
/// parts of one are cut off.
pub fn size(text: &str, unit: SparkUnit) -> Option<Bytes> {
    let (number, word) = split(text)?;
    let of_unit = unit.of_sizes().0;
    let bytes = match word.as_str() {
        "" => of_unit,
        "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        "p" | "pb" | "pib" => 1 << 50,
        _ => return None,
    };
    Some(Bytes::new((number * bytes as f64) as u64 / of_unit * of_unit))
}

/// A number and its unit.
fn split(text: &str) -> Option<(f64, String)> {
    let text = text.trim().to_ascii_lowercase();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim().to_owned()))
}
