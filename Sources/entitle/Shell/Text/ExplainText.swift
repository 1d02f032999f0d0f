import Entitlements
import LedgerAPI

/// `explain` for people.
enum ExplainText {
    static func print(_ answer: ExplanationAnswer) {
        Terminal.line(answer.summary)
        if answer.audience == .developer {
            ShowText.table("steps (happened, recorded, source)", answer.steps.map(row))
        } else {
            for (number, step) in answer.steps.enumerated() {
                Terminal.line("  \(number + 1). " + step.text)
            }
        }
        list(heading(.wouldChange, answer.language), answer.wouldChange.map(\.text))
        list(heading(.notUsed, answer.language), answer.notUsed.map(\.text))
        guard answer.audience == .developer else { return }
        ShowText.table("rules", answer.rules.map { [$0.rawValue, $0.summary] })
        ShowText.table(
            "completeness (synced, verified, complete through, refused)",
            answer.completeness.map { store in
                [
                    store.store, ShowText.text(store.lastSyncAt),
                    ShowText.text(store.lastVerifiedAt), ShowText.text(store.completeThrough),
                    ShowText.text(store.lastRefusedAt),
                ]
            }
        )
    }

    private static func row(_ step: ExplanationStep) -> [String] {
        [
            ShowText.text(step.mark.time), ShowText.text(step.mark.recordedAt),
            ShowText.text(step.mark.source), step.text,
        ]
    }

    private static func list(_ heading: String, _ sentences: [String]) {
        // Several events may say the same.
        var met: Set<String> = []
        let texts = sentences.filter { met.insert($0).inserted }
        guard !texts.isEmpty else { return }
        Terminal.line(heading)
        for text in texts { Terminal.line("  - " + text) }
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
