import Encodings
package import EntitlementLedger
package import Entitlements
package import LedgerAPI

/// CloudEvents that are handed in together: lines of JSON, or a JSON array (cloudevents.io, JSON format
/// 1.0.2, section 4).
///
/// Each stands under its own id, so that the same again appends nothing.
package struct EventBatch: Sendable {
    private let lines: [LineReader.Line]

    /// Events that are handed in at once.
    package static let limit = 10_000

    /// Reads a body; what is wrong with one event is told of that one.
    ///
    /// - Throws: `InputFault` for an array that is none, and for more events than are taken.
    package init(_ body: [UInt8]) throws(InputFault) {
        let texts: [[UInt8]]
        if body.first(where: { !Self.blanks.contains($0) }) == UInt8(ascii: "[") {
            texts = try Self.elements(of: body)
        } else {
            texts = try Self.lines(of: body)
        }
        lines = texts.enumerated().map { LineReader.Line(number: $0 + 1, bytes: $1) }
    }

    private static let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
    private static let tooMany = InputFault(
        .outOfRange,
        "",
        "a batch has at most \(limit) events"
    )

    /// The elements of an array, which are counted where they stand before one is made.
    private static func elements(of body: [UInt8]) throws(InputFault) -> [[UInt8]] {
        let text: JSONText
        do throws(JSONFault) {
            text = try JSONText(parsing: body, placeLimit: JSONText.placeLimit(of: body))
        } catch {
            throw InputFault(.malformed, "", "not JSON at byte \(error.offset): \(error.message)")
        }
        let count = text.elementCount(of: JSONText.root) ?? 0
        guard count <= limit else { throw tooMany }
        var node = JSONText.root + 1
        return (0..<count).map { _ in
            defer { node = text.next(after: node) }
            return Array(text.value(node).description.utf8)
        }
    }

    private static func lines(of body: [UInt8]) throws(InputFault) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var start = body.startIndex
        while start < body.endIndex {
            let end = body[start...].firstIndex(of: 0x0A) ?? body.endIndex
            let line = body[start..<end]
            start = end + 1
            if line.allSatisfy(blanks.contains) { continue }
            guard lines.count < limit else { throw tooMany }
            lines.append(Array(line))
        }
        return lines
    }

    /// Records what can be recorded, in one commit as a rule.
    ///
    /// `clock`: the time. Cost: as `Appender.record`.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    package func record(
        in ledger: Ledger,
        clock: @escaping @Sendable () -> Instant
    ) throws -> BatchAnswer {
        let reader = ItemReader(
            format: .events,
            appStore: nil,
            playStore: nil,
            clock: clock,
            // What is told of each event is found by its place in the batch.
            takesEventArrays: false
        )
        let preparation = ItemPreparation(
            ledger: ledger,
            preservesRecordedTime: false,
            keepsBytes: false
        )
        var prepared = PreparedItems()
        for item in reader.items(lines) { try preparation.add(item.fromOutside, to: &prepared) }
        var receipts = try ledger.appender.record(prepared.submissions)[...]
        let items = prepared.items.map { item in
            item.refusal.map { BatchItem(refusal: $0) } ?? BatchItem(receipts.removeFirst())
        }
        return BatchAnswer(items: items, sequence: try ledger.questions.size())
    }
}

extension ImportFormat.Item {
    /// What only the ledger itself records, nobody hands in over the network.
    var fromOutside: Self {
        let own: Set<EventKind> = [.customerErased, .accessLogged]
        guard let submission = result.value,
            submission.drafts.contains(where: { own.contains($0.kind) })
        else { return self }
        var refused = self
        refused.result = .refused(
            ImportRefusal("not_permitted", "type", "only the ledger itself records this")
        )
        return refused
    }
}

extension BatchItem {
    fileprivate init(refusal: ImportRefusal) {
        self.init(.refused, code: refusal.code, path: refusal.path, detail: refusal.detail)
    }

    fileprivate init(_ receipt: Receipt) {
        switch receipt {
        case .appended(let sequence, _): self.init(.appended, sequence: sequence)
        case .duplicate(let sequence): self.init(.duplicate, sequence: sequence)
        // Only what stores say comes to nothing new under another id.
        case .known: self.init(.duplicate)
        case .refused(let refusal):
            self.init(
                .refused,
                code: refusal.code.rawValue,
                path: refusal.path,
                detail: refusal.detail
            )
        }
    }
}
