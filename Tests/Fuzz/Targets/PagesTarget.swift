import EventLog
import FoundationEssentials
import ModelSupport

@testable import LMDBStorage
@testable import Salvage

/// The data file of a log as a salvage reads it: raw pages, of which nothing is believed.
struct PagesTarget: FuzzTarget {
    private let files: [[UInt8]]

    /// Histories to take the samples from.
    private static let histories: Range<UInt64> = 3..<5
    private static let pageSize = 4096
    private static let sampleSizes = [1, 9, 40]

    init() throws {
        let records = try FuzzedLedger(histories: Self.histories).records()
        files = try Self.sampleSizes.map { try Self.file(of: records.prefix($0)) }
    }

    /// The data file of a log of these records, one a commit.
    private static func file(of records: some Collection<[UInt8]>) throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "entitle-fuzz-pages-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let log = try LMDBLog(path: folder.path, isReadOnly: false)
        for record in records {
            var batch = LogBatch(after: try log.end())
            batch.records = RecordList([record])
            batch.leaves = [TreeHash.leaf(record.span)]
            batch.lastRecordedAt = try RecordHeader(checking: record.span).recordedAt
            _ = try log.append(batch)
        }
        log.close()
        return Array(try Data(contentsOf: folder.appending(path: "data.mdb")))
    }

    func seeds() -> [[UInt8]] { files }

    /// Numbers of a page's head, whole pages, or anything at all.
    func mutated(
        _ input: [UInt8],
        upTo limit: Int,
        using generator: inout SplitMix64
    ) -> [UInt8] {
        let pages = input.count / Self.pageSize
        guard pages > 1, !generator.chance(40) else { return LibFuzzer.mutated(input, upTo: limit) }
        var bytes = input
        let page = Int.random(in: 0..<pages, using: &generator) * Self.pageSize
        let other = Int.random(in: 0..<pages, using: &generator) * Self.pageSize
        if generator.chance(20) {
            bytes.replaceSubrange(
                page..<page + Self.pageSize,
                with: input[other..<other + Self.pageSize]
            )
            return bytes
        }
        // Page numbers, flags, lower and upper, and what a meta page says of its trees.
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let place = page + Int.random(in: 0..<160, using: &generator)
            let isSmall = generator.chance(50)
            bytes[place] =
                isSmall
                ? UInt8(Int.random(in: 0...pages, using: &generator) & 0xFF)
                : UInt8.random(in: 0...255, using: &generator)
        }
        return bytes
    }

    func run(_ input: [UInt8]) {
        do {
            let log = try DamagedLog(input) { _, _ in }
            var found = 0
            for run in log.found.runs {
                let bytes = input.read(at: run.offset, count: run.byteCount)
                try run.forEach(in: bytes.span) { sequence, record in
                    let header = try RecordHeader(checking: record)
                    demand(header.sequence == sequence, "a record stands at its sequence")
                    found += 1
                }
            }
            let end = try SalvagedEnd(
                of: log,
                copies: [],
                closedSize: .max,
                signed: [],
                earlier: nil
            )
            demand(end.size < 1 << 41, "an end is one that a log can have")
            PlantedFault.strike(found > 0 && log.live.isEmpty)
        } catch {
            fatalError("does not hold: raw bytes are read to their end: \(error)")
        }
    }
}
