import Entitlements

extension ExplanationStepTexts {
    // MARK: P5, P6, P7

    static func taken(_ effect: Explanation.Effect, _ mark: Explanation.EventMark?) -> Pair {
        switch effect {
        case .paused(until: nil): mark?.resumesAt == nil ? Taken.paused : Taken.pausedForNow
        case .paused: Taken.pausedUntil
        case .revoked(isRefund: true, until: nil): Taken.refunded
        case .revoked(isRefund: true, _): Taken.refundedUntil
        case .revoked(_, until: nil): Taken.revoked
        case .revoked: Taken.revokedUntil
        case .reversed: Taken.reversed
        case .verified: Taken.verified
        case .failedVerification: Taken.failedVerification
        default: Taken.neverVerified
        }
    }

    /// The sentences of what takes access away, and of what gives it back.
    private enum Taken {
        static let paused = Pair(
            Sentence(
                "{what} is paused since {time}.",
                "{what}は{time}から一時停止中です。",
                "{what}自 {time} 起暫停。"
            )
        )
        /// What the store means to do ends no pause (P5).
        static let pausedForNow = Pair(
            Sentence(
                "{what} is paused since {time}; the store means to resume it on {resumesAt}.",
                "{what}は{time}から一時停止中で、{resumesAt}に再開される予定です。",
                "{what}自 {time} 起暫停，商店預定於 {resumesAt} 恢復。"
            )
        )
        static let pausedUntil = Pair(
            Sentence(
                "{what} is paused from {time} to {until}.",
                "{what}は{time}から{until}まで一時停止しています。",
                "{what}自 {time} 至 {until} 暫停。"
            )
        )
        static let refunded = Pair(
            Sentence(
                "The store refunded {what} on {time}.",
                "ストアは{time}に{what}を返金しました。",
                "商店於 {time} 將{what}退款。"
            )
        )
        static let refundedUntil = Pair(
            Sentence(
                "The store refunded {what} on {time}; that holds until {until}.",
                "ストアは{time}に{what}を返金しました。これは{until}まで有効です。",
                "商店於 {time} 將{what}退款，效力至 {until} 為止。"
            )
        )
        static let revoked = Pair(
            Sentence(
                "The store took back {what} on {time}.",
                "ストアは{time}に{what}を取り消しました。",
                "商店於 {time} 撤銷{what}。"
            )
        )
        static let revokedUntil = Pair(
            Sentence(
                "The store took back {what} on {time}; that holds until {until}.",
                "ストアは{time}に{what}を取り消しました。これは{until}まで有効です。",
                "商店於 {time} 撤銷{what}，效力至 {until} 為止。"
            )
        )
        static let reversed = Pair(
            Sentence(
                "The store reversed that on {time}.",
                "ストアは{time}にそれを元に戻しました。",
                "商店於 {time} 將其復原。"
            )
        )
        static let verified = Pair(
            Sentence(
                "{what} passed verification on {time}.",
                "{what}は{time}に検証に合格しました。",
                "{what}於 {time} 通過驗證。"
            ),
            customer: Sentence(
                "{what} was confirmed with the store.",
                "{what}はストアで確認されています。",
                "{what}已向商店確認。"
            )
        )
        static let failedVerification = Pair(
            Sentence(
                "{what} failed verification on {time}.",
                "{what}は{time}に検証に失敗しました。",
                "{what}於 {time} 驗證失敗。"
            ),
            customer: Sentence(
                "{what} could not be confirmed with the store.",
                "{what}をストアで確認できませんでした。",
                "無法向商店確認{what}。"
            )
        )
        static let neverVerified = Pair(
            Sentence(
                "{what} was never verified.",
                "{what}は一度も検証されていません。",
                "{what}從未經過驗證。"
            ),
            customer: Sentence(
                "{what} has not been confirmed with the store yet.",
                "{what}はまだストアで確認されていません。",
                "{what}尚未向商店確認。"
            )
        )
    }
}
