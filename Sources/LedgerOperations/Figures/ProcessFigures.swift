import Foundation
import Glibc

/// What a process takes of its machine, as Linux tells it (proc_pid_stat(5)).
package struct ProcessFigures: Sendable, Equatable {
    /// Seconds of processor that it used, its own and the kernel's for it, in microseconds.
    package var processorMicroseconds: UInt64
    /// Bytes of memory that it has.
    package var residentBytes: UInt64
    /// Bytes of address space.
    package var virtualBytes: UInt64
    /// Seconds since 1970 at which it began.
    package var startSeconds: UInt64
    /// Files and connections that it has open; nil: it is not told.
    package var openDescriptors: UInt64?
    /// Those that it may have open; nil: there is no limit, or none is told.
    package var descriptorLimit: UInt64?

    /// Of this process; nil: the system does not tell.
    ///
    /// Cost: three small files of the kernel and a name for each open descriptor.
    package static func current() -> ProcessFigures? {
        func text(_ file: String) -> String? {
            // Other systems have no such file.
            try? String(contentsOfFile: file, encoding: .utf8)
        }
        guard let stat = text("/proc/self/stat"), let system = text("/proc/stat"),
            var figures = ProcessFigures(stat: stat, system: system, Units())
        else { return nil }
        // Where they may not be listed they are not told.
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        // The list itself is open while it is read.
        figures.openDescriptors = names.map { UInt64(max(0, $0.count - 1)) }
        figures.descriptorLimit = OpenFiles.limit.map { UInt64($0) }
        return figures
    }

    /// What the kernel counts in.
    package struct Units: Sendable {
        /// In a second.
        package var ticks: UInt64 = 100
        /// Bytes.
        package var page: UInt64 = 4096

        /// Makes some.
        package init(ticks: UInt64, page: UInt64) {
            self.ticks = ticks
            self.page = page
        }

        fileprivate init() {
            #if os(Linux)
            ticks = UInt64(max(1, sysconf(Int32(_SC_CLK_TCK))))
            page = UInt64(max(1, sysconf(Int32(_SC_PAGESIZE))))
            #endif
        }
    }

    /// Reads the lines of a process and of the system; nil: they are none.
    package init?(stat: String, system: String, _ units: Units) {
        // The name stands in parentheses and may hold anything, parentheses too.
        guard let name = stat.lastIndex(of: ")") else { return nil }
        let words = stat[stat.index(after: name)...].split(whereSeparator: \.isWhitespace)
        // The first word behind the name is field 3.
        func field(_ number: Int) -> UInt64? {
            words.count > number - 3 ? UInt64(words[number - 3]) : nil
        }
        let boot = system.split(separator: "\n").first { $0.hasPrefix("btime ") }
            .flatMap { UInt64($0.dropFirst("btime ".count)) }
        guard let user = field(14), let kernel = field(15), let start = field(22),
            let virtual = field(23), let pages = field(24), let boot
        else { return nil }
        // Fits: ticks of all processors in a thousand years do; pages are of one machine's memory.
        processorMicroseconds = (user &+ kernel) &* 1_000_000 / units.ticks
        residentBytes = pages &* units.page
        virtualBytes = virtual
        startSeconds = boot &+ start / units.ticks
    }
}
