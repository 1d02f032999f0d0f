import Encodings
import Entitlements
import LedgerAPI

/// `explain` for people.
enum ExplainText {
    static func print(_ answer: JSONValue, for audience: Audience, in language: Language) {
        Terminal.line(ShowText.text(answer["summary"]))
        let steps = answer["steps"]?.array ?? []
        if audience == .developer {
            ShowText.table("steps (happened, recorded, source)", steps.map(row))
        } else {
            for (number, step) in steps.enumerated() {
                Terminal.line("  \(number + 1). " + ShowText.text(step["text"]))
            }
        }
        list(heading(.wouldChange, language), answer["wouldChange"])
        list(heading(.notUsed, language), answer["notUsed"])
        guard audience == .developer else { return }
        ShowText.table("rules", rules(answer))
        ShowText.table(
            "completeness (synced, verified, complete through, refused)",
            (answer["completeness"]?.array ?? []).map { store in
                ["store", "lastSyncAt", "lastVerifiedAt", "completeThrough", "lastRefusedAt"]
                    .map { ShowText.text(store[$0]) }
            }
        )
    }

    /// The rules that are named, in the order of their first mention, and what each says.
    private static func rules(_ answer: JSONValue) -> [[String]] {
        var met: Set<String> = []
        return ["steps", "wouldChange", "notUsed"].flatMap { answer[$0]?.array ?? [] }
            .compactMap { part in
                guard let rule = part["rule"]?.string, met.insert(rule).inserted else { return nil }
                return [rule, ShowText.text(part["ruleText"])]
            }
    }

    private static func row(_ step: JSONValue) -> [String] {
        [
            ShowText.text(step["time"]), ShowText.text(step["recordedAt"]),
            ShowText.text(step["source"]), ShowText.text(step["text"]),
        ]
    }

    private static func list(_ heading: String, _ entries: JSONValue?) {
        // Several events may say the same.
        var met: Set<String> = []
        let texts = (entries?.array ?? []).map { ShowText.text($0["text"]) }
            .filter { met.insert($0).inserted }
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
