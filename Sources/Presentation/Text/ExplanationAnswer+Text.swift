import Encodings
import Entitlements
package import LedgerAPI

extension ExplanationAnswer {
    /// The explanation for people: the decision, its steps, what would change it, what was not used;
    /// for developers also rules and completeness.
    package var textLines: [String] {
        var lines = [summary]
        if audience == .developer {
            lines += TextTable.lines("steps (happened, recorded, source)", steps.map(Self.row))
        } else {
            lines += steps.enumerated().map { "  \($0.offset + 1). " + $0.element.text }
        }
        lines += Self.list(Self.heading(.wouldChange, language), wouldChange.map(\.text))
        lines += Self.list(Self.heading(.notUsed, language), notUsed.map(\.text))
        guard audience == .developer else { return lines }
        lines += TextTable.lines("rules", rules.map { [$0.rawValue, $0.summary] })
        return lines
            + TextTable.lines(
                "completeness (synced, verified, complete through, refused)",
                completeness.map { store in
                    [store.store]
                        + [
                            store.lastSyncAt, store.lastVerifiedAt, store.completeThrough,
                            store.lastRefusedAt,
                        ].map { CellText.text($0) }
                }
            )
    }

    private static func row(_ step: ExplanationStep) -> [String] {
        [
            CellText.text(step.mark.time), CellText.text(step.mark.recordedAt),
            CellText.text(step.mark.source), step.text,
        ]
    }

    private static func list(_ heading: String, _ sentences: [String]) -> [String] {
        // Several events may say the same.
        var met: Set<Name> = []
        let texts = sentences.filter { met.insert(Name($0)).inserted }
        return texts.isEmpty ? [] : [heading] + texts.map { "  - " + $0 }
    }

    private enum Part { case wouldChange, notUsed }

    private static func heading(_ part: Part, _ language: Language) -> String {
        switch (part, language) {
        case (.wouldChange, .english): "what would change it"
        case (.wouldChange, .japanese): "変わるとすれば"
        case (.wouldChange, .traditionalChinese): "何者會改變結果"
        case (.notUsed, .english): "not used"
        case (.notUsed, .japanese): "使われなかったもの"
        case (.notUsed, .traditionalChinese): "未採用"
        }
    }
}
