import Entitlements

extension ExplanationChangeTexts {
    // MARK: What is not used

    static func texts(_ reason: Explanation.Unused.Reason) -> Pair {
        switch reason {
        case .environment: UnusedTexts.environment
        case .repeated: UnusedTexts.repeated
        case .superseded(.c3): UnusedTexts.supersededGrant
        case .superseded: UnusedTexts.superseded
        case .passedOver: UnusedTexts.passedOver
        case .otherPeriod(let isRefund):
            isRefund ? UnusedTexts.otherRefund : UnusedTexts.otherRevocation
        case .repeatedTrial: UnusedTexts.repeatedTrial
        case .claimRefused: UnusedTexts.claimRefused
        case .blocked: UnusedTexts.blocked
        }
    }

    /// The sentences of what is not used.
    private enum UnusedTexts {
        static let environment = Pair(
            Sentence(
                "Events of the environment “{environment}” ({count}) never count here.",
                "環境「{environment}」のイベント（{count}件）はここでは数えません。",
                "「{environment}」環境的事件（{count} 筆）在此不計。"
            ),
            customer: Sentence(
                "Purchases in another environment do not count here.",
                "別の環境での購入は、ここでは対象外です。",
                "其他環境中的購買在此不計。"
            )
        )
        static let repeated = Pair(
            Sentence(
                "A signal that was recorded twice counts once.",
                "二度記録された通知は一度だけ数えます。",
                "重複記錄的通知只計一次。"
            )
        )
        static let supersededGrant = Pair(
            Sentence(
                "{what} was given anew; only the newest counts.",
                "{what}はあらためて付与されており、最新のものだけが有効です。",
                "{what}已重新贈與，僅以最新的為準。"
            ),
            customer: Sentence(
                "Access that we gave you was replaced by newer access.",
                "以前に付与された利用権は、新しいものに置き換えられています。",
                "先前為您開通的權限已由新的取代。"
            )
        )
        static let superseded = Pair(
            Sentence(
                "A newer statement about {what} counts in place of this one.",
                "{what}については、これより新しい記録が優先されます。",
                "關於{what}，以較新的紀錄為準。"
            )
        )
        static let passedOver = Pair(
            Sentence(
                "This link was replaced or would close a circle.",
                "この結び付けは置き換えられたか、循環になるため使われません。",
                "此連結已被取代，或會形成循環，因此不採用。"
            ),
            customer: Sentence(
                "A former connection between accounts does not count.",
                "以前のアカウントの結び付けは対象外です。",
                "先前的帳號連結不計算在內。"
            )
        )
        static let otherRefund = Pair(
            Sentence(
                "A refund of another period of {what} changes nothing here.",
                "{what}の別の期間の返金は、ここでは影響しません。",
                "{what}另一期間的退款在此沒有影響。"
            )
        )
        static let otherRevocation = Pair(
            Sentence(
                "A revocation of another period of {what} changes nothing here.",
                "{what}の別の期間の取り消しは、ここでは影響しません。",
                "{what}另一期間的撤銷在此沒有影響。"
            )
        )
        static let repeatedTrial = Pair(
            Sentence(
                "{what} counts once; beginning it again gives nothing.",
                "{what}は一度だけ有効で、再び始めても何も得られません。",
                "{what}僅計一次，再次開始不會有任何效果。"
            )
        )
        static let claimRefused = Pair(
            Sentence(
                "On {time}, another customer's claim of {what} was refused, because it has an owner.",
                "{time}に、別の顧客による{what}の申告が、所有者がいるため拒否されました。",
                "{time} 有其他客戶認領{what}，因已有擁有者而遭拒絕。"
            ),
            customer: Sentence(
                "On {time}, another account asked for {what} and was refused.",
                "{time}に、別のアカウントが{what}を登録しようとし、拒否されました。",
                "{time} 有其他帳號要求登記{what}，已遭拒絕。"
            )
        )
        static let blocked = Pair(Sentence("", "", ""))
    }
}
