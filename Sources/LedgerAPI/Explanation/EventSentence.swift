import Encodings
import Entitlements

/// Events in sentences for support: what each is, and in English every value that is shown of it.
enum EventSentence {
    /// An event in a sentence, in English.
    ///
    /// `values`: what is shown of its data.
    static func text(_ kind: EventKind, _ values: [Entitlements.Field: FieldValue]) -> String {
        let details = details(values)
        return title(of: kind)[.english] + (details.isEmpty ? "." : ": " + details + ".")
    }

    /// Every value that is shown of an event, in English; empty: there is none.
    static func details(_ values: [Entitlements.Field: FieldValue]) -> String {
        let details = values.sorted { $0.key < $1.key }.compactMap { field, value in
            // It stands behind the price.
            field == .currencyCode && values[.priceMicros] != nil
                ? nil : words(of: field) + " " + text(of: field, value, values)
        }
        return details.joined(separator: ", ")
    }

    /// What an event is, in a few words.
    static func title(of kind: EventKind) -> Sentence { kind.title }

    /// What a field is called: its name in JSON as words, without what its value shows.
    private static func words(of field: Entitlements.Field) -> String {
        var words = ""
        for scalar in field.name.unicodeScalars {
            if scalar.properties.isUppercase { words += " " }
            words += scalar.properties.lowercaseMapping
        }
        for ending in [" id", " micros"] where words.hasSuffix(ending) {
            words.removeLast(ending.count)
        }
        return words
    }

    private static func text(
        of field: Entitlements.Field,
        _ value: FieldValue,
        _ values: [Entitlements.Field: FieldValue]
    ) -> String {
        switch value {
        case .text(let text): field.shape == .text ? "“\(text)”" : text
        case .integer(let micros) where field == .priceMicros:
            Decimals.units(ofMicros: String(micros))
                + (values[.currencyCode]?.text.map { " " + $0 } ?? "")
        case .integer(let number): String(number)
        case .instant(let instant): InstantText(language: .english, zone: .utc)(instant)
        case .flag(let flag): flag ? "yes" : "no"
        case .texts(let texts): texts.isEmpty ? "none" : texts.joined(separator: " and ")
        case .durations(let durations):
            durations.map { "\($0.name) \($0.milliseconds) ms" }.joined(separator: " and ")
        }
    }
}

extension EventKind {
    fileprivate var title: Sentence {
        switch self {
        case .purchaseCompleted: Sentence("Bought", "購入", "購買")
        case .purchaseRenewed: Sentence("Renewed", "更新", "續訂")
        case .purchaseExtended: Sentence("Extended", "期間を延長", "延長期限")
        case .purchaseGraceStarted: Sentence("Grace began", "猶予期間の開始", "寬限期開始")
        case .purchaseRetryStarted: Sentence("Billing retry began", "請求の再試行を開始", "開始重試扣款")
        case .purchaseExpired: Sentence("Expired", "期限切れ", "到期")
        case .purchasePaused: Sentence("Paused", "一時停止", "暫停")
        case .purchaseResumed: Sentence("Resumed", "再開", "恢復")
        case .purchaseRenewalChanged: Sentence("Renewal changed", "更新設定の変更", "續訂設定變更")
        case .purchasePending: Sentence("Purchase pending", "購入が保留中", "購買待處理")
        case .purchaseAbandoned: Sentence("Purchase abandoned", "購入の取りやめ", "放棄購買")
        case .purchaseLinked: Sentence("Purchase linked", "購入の関連付け", "購買已連結")
        case .purchaseAcknowledged: Sentence("Purchase acknowledged", "購入を承認", "購買已確認")
        case .verificationPassed: Sentence("Verified", "検証済み", "驗證通過")
        case .verificationFailed: Sentence("Verification failed", "検証に失敗", "驗證失敗")
        case .revocationRefunded: Sentence("Refunded", "返金", "退款")
        case .revocationRevoked: Sentence("Revoked", "取り消し", "撤銷")
        case .revocationReversed:
            Sentence(
                "Refund or revocation reversed",
                "返金または取り消しの撤回",
                "退款或撤銷已還原"
            )
        case .syncCompleted: Sentence("Store asked", "ストアへ照会", "已查詢商店")
        case .syncReconciled: Sentence("Reconciled with the store", "ストアと照合", "已與商店對帳")
        case .customerClaimed: Sentence("Purchase claimed", "購入の申請", "認領購買")
        case .customerReleased: Sentence("Purchase released", "購入の解放", "釋出購買")
        case .customerLinked: Sentence("Customer linked", "顧客IDの関連付け", "客戶已連結")
        case .customerTransferred: Sentence("Purchases transferred", "購入の移転", "購買已轉移")
        case .customerErased: Sentence("Customer erased", "顧客の消去", "客戶已抹除")
        case .grantGiven: Sentence("Access granted", "アクセスを付与", "授予存取權")
        case .grantWithdrawn: Sentence("Grant withdrawn", "付与の取り消し", "收回授予")
        case .trialStarted: Sentence("Trial started", "お試しの開始", "試用開始")
        case .usageRecorded: Sentence("Use recorded", "利用の記録", "記錄使用")
        case .usageReversed: Sentence("Use taken back", "利用の取り消し", "撤回使用")
        case .flowStarted: Sentence("Purchase flow started", "購入手続きの開始", "購買流程開始")
        case .flowSucceeded: Sentence("Purchase flow succeeded", "購入手続きの成功", "購買流程成功")
        case .flowFailed: Sentence("Purchase flow failed", "購入手続きの失敗", "購買流程失敗")
        case .flowCancelled: Sentence("Purchase flow cancelled", "購入手続きの中止", "購買流程取消")
        case .flowPending: Sentence("Purchase flow pending", "購入手続きの保留", "購買流程待處理")
        case .flowRestored: Sentence("Purchases restored", "購入の復元", "恢復購買")
        case .signalNoted: Sentence("Message of a store noted", "ストアからの通知を記録", "記錄商店訊息")
        case .failureRecorded: Sentence("Error reported", "エラーの報告", "回報錯誤")
        case .accessLogged: Sentence("Looked at", "閲覧", "查閱")
        case .catalogPublished: Sentence("Catalog published", "カタログの公開", "目錄發佈")
        }
    }
}
