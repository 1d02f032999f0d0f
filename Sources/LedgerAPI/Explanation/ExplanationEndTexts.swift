import Entitlements

extension ExplanationChangeTexts {
    // MARK: Ends

    static func texts(_ end: Explanation.Change.End) -> Pair {
        switch end {
        case .expiry(willRenew: true): EndTexts.expiry
        case .expiry(willRenew: false): EndTexts.lastExpiry
        case .switching: EndTexts.switching
        case .grace: EndTexts.grace
        case .leeway: EndTexts.leeway
        case .pause: EndTexts.pause
        case .revocation: EndTexts.revocation
        case .verification: EndTexts.verification
        default: texts(further: end)
        }
    }

    /// The sentences of what ends a period, or access to it.
    private enum EndTexts {
        static let expiry = Pair(
            Sentence(
                "It ends on {time} unless {what} is renewed, as it is set to be.",
                "{what}は自動更新される設定ですが、更新されなければ{time}に終了します。",
                "{what}已設定為自動續訂；若未續訂，將於 {time} 結束。"
            )
        )
        static let lastExpiry = Pair(
            Sentence(
                "It ends on {time}: {what} is set not to renew.",
                "{time}に終了します。{what}は自動更新されない設定です。",
                "將於 {time} 結束：{what}已設定為不續訂。"
            )
        )
        static let switching = Pair(
            Sentence(
                "It ends on {time}: {what} is set to change to another product.",
                "{time}に終了します。{what}は別の商品に変更される設定です。",
                "將於 {time} 結束：{what}已設定改為其他商品。"
            ),
            customer: Sentence(
                "It ends on {time}: {what} is set to change to another plan.",
                "{time}に終了します。{what}は別のプランに変更される設定です。",
                "將於 {time} 結束：{what}已設定改為其他方案。"
            )
        )
        static let grace = Pair(
            Sentence(
                "It ends on {time} with the grace period, unless the payment succeeds.",
                "支払いが成功しなければ、猶予期間とともに{time}に終了します。",
                "若付款未成功，將隨寬限期於 {time} 結束。"
            )
        )
        static let leeway = Pair(
            Sentence(
                "It ends on {time} unless a renewal becomes known.",
                "更新が確認されなければ、{time}に終了します。",
                "若未得知續訂，將於 {time} 結束。"
            )
        )
        static let pause = Pair(
            Sentence(
                "It ends on {time}, when {what} is paused.",
                "{what}が一時停止される{time}に終了します。",
                "{what}於 {time} 暫停，屆時結束。"
            )
        )
        static let revocation = Pair(
            Sentence(
                "It ends on {time}, when the store takes {what} back.",
                "ストアが{what}を返金または取り消す{time}に終了します。",
                "商店於 {time} 將{what}退款或撤銷，屆時結束。"
            )
        )
        static let verification = Pair(
            Sentence(
                "It ends on {time}, when {what} fails verification.",
                "{what}が検証に失敗する{time}に終了します。",
                "{what}於 {time} 驗證失敗，屆時結束。"
            ),
            customer: Sentence(
                "It ends on {time}, because {what} cannot be confirmed with the store from then on.",
                "それ以降{what}をストアで確認できないため、{time}に終了します。",
                "自 {time} 起無法向商店確認{what}，屆時結束。"
            )
        )
    }

    private static func texts(further end: Explanation.Change.End) -> Pair {
        switch end {
        case .ownership:
            Pair(
                Sentence(
                    "It ends on {time}, when {what} leaves this customer.",
                    "{what}がこの顧客のものでなくなる{time}に終了します。",
                    "{what}於 {time} 不再屬於此客戶，屆時結束。"
                ),
                customer: Sentence(
                    "It ends on {time}, when {what} leaves your account.",
                    "{what}がお客様のアカウントから離れる{time}に終了します。",
                    "{what}於 {time} 離開您的帳號，屆時結束。"
                )
            )
        case .followed:
            Pair(
                Sentence(
                    "It ends on {time}, when {what} gives way to a period without it.",
                    "{what}がこの機能を含まない期間に代わる{time}に終了します。",
                    "{what}於 {time} 改為不含此功能的期間，屆時結束。"
                )
            )
        case .grant(isWithdrawn: true):
            Pair(
                Sentence(
                    "It ends on {time}, when {what} is withdrawn.",
                    "{what}が取り消される{time}に終了します。",
                    "{what}於 {time} 收回，屆時結束。"
                )
            )
        case .catalog:
            Pair(
                Sentence(
                    "It ends on {time}, when another catalog comes into force.",
                    "別のカタログが有効になる{time}に終了します。",
                    "其他目錄於 {time} 生效，屆時結束。"
                ),
                customer: Sentence(
                    "It ends on {time}, when our offer changes.",
                    "提供内容が変わる{time}に終了します。",
                    "方案內容於 {time} 變更，屆時結束。"
                )
            )
        default:
            Pair(
                Sentence(
                    "It ends on {time} with {what}.",
                    "{what}とともに{time}に終了します。",
                    "將隨{what}於 {time} 結束。"
                )
            )
        }
    }
}
