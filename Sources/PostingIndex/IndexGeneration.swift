package import EventLog
import FoundationEssentials
import Synchronization

/// The files of one generation of the index: makes runs, joins them, and says which ones count.
///
/// Files are written without a sync; `index` is replaced by rename, so that another process finds
/// the runs of one moment. Runs that no longer count are removed; who has them open keeps them.
package final class IndexGeneration: Sendable {
    /// The directory; nil: the files have no names and go with the process.
    package let path: String?
    private let seal: ViewSeal
    private let nextNumber = Atomic<UInt64>(1)

    package init(path: String?, seal: ViewSeal) {
        self.path = path
        self.seal = seal
    }

    // MARK: Opening

    /// Opens the runs that the manifest names.
    ///
    /// - Throws: `ViewDamage`.
    package func open() throws(ViewDamage) -> IndexTables {
        guard let path else { throw ViewDamage("the views have no files") }
        // A writer may have joined runs since the manifest was read: then there is a newer one.
        var last: [UInt8] = []
        while true {
            let content = try ViewFile.content(
                path + "/" + IndexManifest.fileName,
                limit: IndexManifest.byteLimit
            )
            do {
                return try open(content)
            } catch {
                if content == last { throw error }
                last = content
            }
        }
    }

    private func open(_ content: [UInt8]) throws(ViewDamage) -> IndexTables {
        let manifest: IndexManifest
        do {
            manifest = try IndexManifest(decoding: content.span, seal)
        } catch {
            throw ViewDamage(error.what)
        }
        guard manifest.position.ledgerID == seal.ledgerID else {
            throw ViewDamage("the views are of another ledger")
        }
        var runs: [IndexRun] = []
        for run in manifest.runs {
            runs.append(
                IndexRun(
                    run,
                    streams: try open(.streams, run.streams, of: run),
                    signals: try open(.signals, run.signals, of: run)
                )
            )
        }
        let highest = manifest.runs.map(\.number).max() ?? 0
        nextNumber.store(highest &+ 1, ordering: .relaxed)
        return IndexTables(runs: runs, position: manifest.position)
    }

    private func open(
        _ part: IndexRun.Part,
        _ description: PostingTable.Description,
        of run: IndexRun.Description
    ) throws(ViewDamage) -> PostingTable {
        try PostingTable(
            ViewFile.open(name(of: part, run.number) ?? ""),
            description,
            keys: run.keys(of: part, seal),
            firstSequence: run.sequences.lowerBound
        )
    }

    private func name(of part: IndexRun.Part, _ number: UInt64) -> String? {
        path.map { "\($0)/\(part)-\(number)" }
    }

    // MARK: Making

    /// Writes a run, both tables at once; `root` is the log's at a size not below its end.
    ///
    /// - Throws: `LogStorageFault`, `ViewDamage`.
    package func makeRun(
        _ postings: Postings,
        of sequences: Range<UInt64>,
        root: Digest
    ) throws -> IndexRun {
        try makeRun(of: sequences, root: root) { part in
            postings[part].keyCount
        } fill: { part, writer in
            for posting in postings[part] { try writer.append(posting) }
        }
    }

    /// Writes one run in place of several.
    ///
    /// - Throws: `LogStorageFault`, `ViewDamage`.
    package func join(_ runs: [IndexRun], root: Digest) throws -> IndexRun {
        guard let first = runs.first, let last = runs.last else {
            preconditionFailure("there are runs to be joined")
        }
        let sequences = first.sequences.lowerBound..<last.sequences.upperBound
        return try makeRun(of: sequences, root: root) { part in
            runs.reduce(0) { $0 + Int($1.table(part).description.keyCount) }
        } fill: { part, writer in
            try writer.append(merging: runs.map { $0.table(part) })
        }
    }

    private func makeRun(
        of sequences: Range<UInt64>,
        root: Digest,
        keyCount: @Sendable (IndexRun.Part) -> Int,
        fill: @Sendable (IndexRun.Part, inout PostingTableWriter) throws -> Void
    ) throws -> IndexRun {
        let number = nextNumber.wrappingAdd(1, ordering: .relaxed).oldValue
        let run = IndexRun.Description(number: number, sequences: sequences, root: root)
        let parts = IndexRun.Part.allCases
        let tables = try Concurrently.map(parts.count) { index in
            let part = parts[index]
            let file =
                try name(of: part, number).map { try ViewFile.create($0) }
                ?? ViewFile.createUnnamed()
            var writer = PostingTableWriter(
                file: file,
                keys: run.keys(of: part, seal),
                firstSequence: sequences.lowerBound,
                expectedKeys: keyCount(part)
            )
            try fill(part, &writer)
            return try writer.finish()
        }
        return IndexRun(run, streams: tables[0], signals: tables[1])
    }

    /// The tables with one more run; runs of one level at their end are joined (``RunLevel``).
    ///
    /// - Throws: `LogStorageFault`, `ViewDamage`.
    package func extended(
        _ tables: IndexTables,
        by run: IndexRun,
        position: ViewPosition
    ) throws -> IndexTables {
        var runs = tables.runs + [run]
        let first = RunLevel.firstToJoin(runs.map { UInt64($0.sequences.count) })
        if first < runs.count - 1 {
            runs = runs[..<first] + [try join(Array(runs[first...]), root: position.root)]
        }
        return IndexTables(runs: runs, position: position)
    }

    // MARK: Keeping

    /// Makes tables those that count.
    ///
    /// `isDurable`: whether all of them are on the disk then.
    package func keep(_ tables: IndexTables, isDurable: Bool = false) throws {
        guard let path else { return }
        if isDurable {
            for run in tables.runs {
                for part in IndexRun.Part.allCases { try run.table(part).sync() }
            }
        }
        let manifest = IndexManifest(
            position: tables.position,
            runs: tables.runs.map(\.description)
        )
        try ViewFile.replace(
            path + "/" + IndexManifest.fileName,
            with: manifest.bytes(seal),
            isDurable: isDurable
        )
    }

    /// Removes the files of runs that count no more, and of those that were left half-made.
    package func removeStrays(but kept: [IndexRun]) {
        // Strays that nobody can list are only room on the disk.
        guard let path, let names = try? FileManager.default.contentsOfDirectory(atPath: path)
        else { return }
        let numbers = Set(kept.map { String($0.description.number) })
        for name in names {
            let words = name.split(separator: "-")
            guard words.count == 2, !numbers.contains(String(words[1])) else { continue }
            // What cannot be removed is only room on the disk.
            try? FileManager.default.removeItem(atPath: path + "/" + name)
        }
    }
}
