import Entitlements
import LedgerAPI

/// What is open to a customer now, in one sentence.
struct OpenAccess {
    let text: SoldText
    let state: StateContent

    func write(to page: inout XMLText) {
        let (sentence, isOpen) = sentence
        page.element("section", ["class": "card answer" + (isOpen ? " ok" : "")]) { page in
            page.element("p", ["class": "sentence"]) { $0.write(sentence) }
        }
    }

    /// The sentence, and whether anything is open that is not for everybody.
    var sentence: (text: String, isOpen: Bool) {
        let opened = state.purchases.filter { $0.status == .active || $0.status == .grace }
        var names = opened.map { text.name($0.productID, of: $0.purchase) }
        // In a grace what was paid is over, and a state does not tell when the grace ends.
        var ends = opened.map { $0.status == .grace ? nil : $0.expiresAt }
        for grant in state.grants where grant.isActive {
            names.append(OpenWords.grant[text.language])
            ends.append(grant.expiresAt)
        }
        if state.features.contains(where: { $0.value.isAllowed && $0.value.reason == .trial }) {
            names.append(OpenWords.trial[text.language])
            ends.append(
                state.features.lazy.filter { $0.value.reason == .trial }
                    .compactMap(\.value.until).max()
            )
        }
        var distinct: [String] = []
        for name in names where !distinct.contains(name) { distinct.append(name) }
        guard !distinct.isEmpty else { return (OpenWords.nothing[text.language], false) }
        // One end is told where all have one and it is the same.
        let end = Set(ends).count == 1 ? ends[0] : nil
        let sentence = end == nil ? OpenWords.have : OpenWords.haveUntil
        let joined = distinct.joined(separator: text.language == .english ? ", " : "、")
        let filled = sentence.filled(text.language) { place in
            place == "names" ? joined : end.map { text.instants.day($0) }
        }
        return (filled, true)
    }
}

enum OpenWords {
    static let have = Sentence("You have {names}.", "{names}をご利用いただけます。", "您擁有{names}。")
    static let haveUntil = Sentence(
        "You have {names} until {date}.",
        "{names}を{date}までご利用いただけます。",
        "您擁有{names}，有效期限至 {date}。"
    )
    static let nothing = Sentence(
        "Nothing that is paid is open to you now.",
        "現在ご利用いただける有料の項目はありません。",
        "目前沒有可使用的付費項目。"
    )
    static let grant = Sentence("access that we gave you", "付与された利用権", "我們為您開通的權限")
    static let trial = Sentence("your trial", "お試し期間", "您的試用")
}
