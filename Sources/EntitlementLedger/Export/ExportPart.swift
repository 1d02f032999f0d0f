import Entitlements

/// One kind of content; its lines are JSON objects, whatever they are written as.
package enum ExportPart: String, CaseIterable, Sendable {
    /// The customer's names and purchases with their numbers in the log.
    case identity
    /// What the customer is entitled to: the `show` shape.
    case state
    /// Stretches over time: the `timeline` shape, of events only types and times.
    case timeline
    /// Why they have or lack each feature: the `explain` shape for support.
    case explanations
    /// Events as CloudEvents.
    case events
    /// Those among them that tell of an error (row 8.5).
    case errors
    /// What events were read from.
    case evidence
    /// Records as they stand in the log; a customer's each with its inclusion proof.
    case proofs
    /// What ties a range of records to the checkpoint.
    case range
}

/// A file of an export.
package struct ExportFile: Sendable, Hashable {
    /// Its name.
    package var name: String
    /// What it holds, in this order.
    package var parts: [ExportPart]
    /// How that is written.
    package var form: Form

    /// How lines are written.
    package enum Form: Sendable, Hashable {
        /// A JSON object a line.
        case lines
        /// Comma-separated values.
        case table(ExportTable)
        /// A page to print.
        case page
        /// A SQLite database.
        case database
    }

    /// Makes a file's description.
    init(_ name: String, _ parts: [ExportPart], _ form: Form = .lines) {
        self.name = name
        self.parts = parts
        self.form = form
    }

    /// What ties the others together; written last.
    package static let manifest = "manifest.json"
    /// The ledger's signature over the manifest.
    package static let signature = "manifest.note"
    /// Records with their proofs, in every export.
    package static let proofs = "proofs.ndjson"
    /// What ties a range to the checkpoint.
    package static let range = "range.json"
    /// Events as CloudEvents.
    package static let events = "events.ndjson"
}

extension ExportPlan {
    /// The files that come of it; the manifest and its signature follow them.
    package var files: [ExportFile] {
        let isCustomer = customer != nil
        var files = [ExportFile(ExportFile.proofs, [.proofs])]
        if !isCustomer { files.append(ExportFile(ExportFile.range, [.range])) }
        for format in ExportFormat.allCases where formats.contains(format) {
            switch format {
            case .ndjson:
                files += (isCustomer ? Self.customerLines : Self.rangeLines)
                    .filter { parts.contains($0.parts[0]) }
            case .csv:
                files += tables.filter { $0.part != .proofs }.map {
                    ExportFile(Self.tableFile($0), [$0.part], .table($0))
                }
            case .sqlite: files.append(ExportFile("export.sqlite", parts, .database))
            case .html:
                files.append(ExportFile(Self.page, parts.filter { $0 != .proofs }, .page))
            }
        }
        return files
    }

    /// The tables that hold it.
    package var tables: [ExportTable] { ExportTable.allCases.filter { parts.contains($0.part) } }

    /// The files that a server may stream beside the manifest.
    package static let streamedNames =
        [ExportFile.proofs, ExportFile.range, page] + customerLines.map(\.name)
        + ExportTable.allCases.map(tableFile)

    private static let page = "export.html"

    private static func tableFile(_ table: ExportTable) -> String { table.name + ".csv" }

    /// What it consists of.
    ///
    /// A customer's own export has no evidence: one message of a store tells of transactions and
    /// accounts of whoever owned the purchase before.
    var parts: [ExportPart] {
        let parts: [ExportPart] =
            customer != nil
            ? [
                .identity, .state, .explanations, .timeline, .errors, .events, .evidence, .proofs,
            ] : [.errors, .events, .evidence, .proofs]
        return visibility == .own ? parts.filter { $0 != .evidence } : parts
    }

    private static let rangeLines = [
        ExportFile(ExportFile.events, [.events]), ExportFile("errors.ndjson", [.errors]),
        ExportFile("evidence.ndjson", [.evidence]),
    ]
    private static let customerLines =
        [
            ExportFile("identity.json", [.identity]), ExportFile("state.json", [.state]),
            ExportFile("timeline.json", [.timeline]),
            ExportFile("explanations.ndjson", [.explanations]),
        ] + rangeLines
}
