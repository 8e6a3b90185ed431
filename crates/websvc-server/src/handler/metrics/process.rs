//! The metrics of the process and its disk. The names `process_...` are those of all clients of Prometheus.

use std::fs;

use websvc_store::DiskSpace;

use super::prometheus::Metrics;

/// Linux counts hundredths of a second on every machine.
const TICKS_PER_SECOND: u64 = 100;
const KILOBYTE: u64 = 1024;

/// Adds what the kernel knows of this process. There is nothing on systems without `/proc`. Blocks for some microseconds.
pub(super) fn process(out: &mut Metrics) {
    let read = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
    let open_files = fs::read_dir("/proc/self/fd").map(Iterator::count).ok();
    let boot_seconds = fs::read_to_string("/proc/stat").ok().and_then(|text| value(&text, "btime"));
    let found = Process::parse(&read("stat"), &read("status"), &read("limits"));
    let Some(Process { cpu_ticks, start_ticks, resident_kb, virtual_kb, threads, max_files }) = found else {
        return;
    };
    let help = "CPU time of all threads of the process, in seconds.";
    out.counter("process_cpu_seconds_total", help, ticks(cpu_ticks));
    out.gauge("process_resident_memory_bytes", "Resident memory of the process.", resident_kb * KILOBYTE);
    out.gauge("process_virtual_memory_bytes", "Address space of the process.", virtual_kb * KILOBYTE);
    out.gauge("process_threads", "Threads of the process.", threads);
    if let Some(open) = open_files {
        out.gauge("process_open_fds", "Open files and sockets of the process.", open);
    }
    if let Some(max) = max_files {
        out.gauge("process_max_fds", "Maximum number of open files and sockets.", max);
    }
    if let Some(boot) = boot_seconds {
        let help = "Start of the process, in seconds since the Unix epoch.";
        out.gauge("process_start_time_seconds", help, boot + start_ticks / TICKS_PER_SECOND);
    }
}

/// Adds the space of the file system with the data directory.
pub(super) fn disk(out: &mut Metrics, DiskSpace { available_bytes, total_bytes }: DiskSpace) {
    let help = "Free space of the file system with the data directory.";
    out.gauge("websvc_data_available_bytes", help, available_bytes);
    let help = "Size of the file system with the data directory.";
    out.gauge("websvc_data_total_bytes", help, total_bytes);
}

#[expect(clippy::cast_precision_loss, reason = "2^53 hundredths of a second are three million years")]
fn ticks(count: u64) -> f64 {
    count as f64 / TICKS_PER_SECOND as f64
}

/// Numbers of the files of a process in `/proc`.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    cpu_ticks: u64,
    /// Start after the boot of the machine.
    start_ticks: u64,
    resident_kb: u64,
    virtual_kb: u64,
    threads: u64,
    /// `None` if there is no limit.
    max_files: Option<u64>,
}

impl Process {
    fn parse(stat: &str, status: &str, limits: &str) -> Option<Self> {
        // The name of the program is in parentheses, and may contain blanks.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let field = |at: usize| fields.get(at)?.parse::<u64>().ok();
        Some(Self {
            cpu_ticks: field(11)? + field(12)?,
            start_ticks: field(19)?,
            resident_kb: value(status, "VmRSS:")?,
            virtual_kb: value(status, "VmSize:")?,
            threads: value(status, "Threads:")?,
            max_files: value(limits, "Max open files"),
        })
    }
}

/// Returns the number behind a name at the beginning of a line.
fn value(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "7 (web (svc) x) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 9 0 4200 123 456 18446744073709551615 1 1";

    #[test]
    fn numbers_of_the_process_are_read() {
        let status = "Name:\twebsvc\nVmSize:\t  204800 kB\nVmRSS:\t   51200 kB\nThreads:\t9\n";
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 4096  files\n";
        let expected = Process {
            cpu_ticks: 300,
            start_ticks: 4200,
            resident_kb: 51200,
            virtual_kb: 204_800,
            threads: 9,
            max_files: Some(1024),
        };
        assert_eq!(Process::parse(STAT, status, limits), Some(expected));
        let unlimited =
            Process::parse(STAT, status, "Max open files  unlimited  unlimited  files\n").unwrap();
        assert_eq!(unlimited.max_files, None);
        assert_eq!(Process::parse("", "", ""), None, "there is no /proc");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_has_all_metrics() {
        let mut out = Metrics::default();
        process(&mut out);
        let text = out.write();
        for name in [
            "process_cpu_seconds_total",
            "process_resident_memory_bytes",
            "process_virtual_memory_bytes",
            "process_threads",
            "process_open_fds",
            "process_start_time_seconds",
        ] {
            let line = text.lines().find(|line| line.starts_with(&format!("{name} ")));
            let number: f64 =
                line.unwrap_or_else(|| panic!("{name} {text}")).split(' ').nth(1).unwrap().parse().unwrap();
            assert!(number >= 0.0, "{name}");
        }
    }
}
