/// The one table of messages to customers: what happened, then what to do.
///
/// A message invites to try again exactly where its code is retryable.
enum ServiceErrorMessages {
    typealias Texts = Sentence

    static func texts(_ error: ServiceError) -> Texts {
        error.reason.map(texts) ?? texts(error.code)
    }

    private static func texts(_ code: ServiceError.Code) -> Texts {
        switch code {
        case .cancelled: Codes.cancelled
        case .networkError: Codes.networkError
        case .storeProblem: Codes.storeProblem
        case .purchaseCancelled: Codes.purchaseCancelled
        case .purchaseInvalid: Codes.purchaseInvalid
        case .productUnavailable: Codes.productUnavailable
        case .verificationFailed: Codes.verificationFailed
        case .invalidSignature: Codes.invalidSignature
        case .keyNotFound: Codes.keyNotFound
        case .decodingError: Codes.decodingError
        case .databaseError: Codes.databaseError
        case .unknown: Codes.unknown
        }
    }

    /// The messages of codes.
    private enum Codes {
        static let cancelled = Texts(
            "This was cancelled. Nothing has changed.",
            "操作はキャンセルされました。変更は行われていません。",
            "操作已取消，未作任何變更。"
        )
        static let networkError = Texts(
            "We could not reach the server. Please check your connection and try again.",
            "サーバーに接続できませんでした。通信環境をご確認のうえ、もう一度お試しください。",
            "無法連線到伺服器。請檢查網路連線後再試一次。"
        )
        static let storeProblem = Texts(
            "The store could not complete your request. Please try again in a few minutes.",
            "ストアで処理を完了できませんでした。数分後にもう一度お試しください。",
            "商店無法完成您的要求。請於幾分鐘後再試一次。"
        )
        static let purchaseCancelled = Texts(
            "The purchase was cancelled and you have not been charged. "
                + "You can come back to it whenever you like.",
            "購入はキャンセルされ、料金は発生していません。いつでもあらためてご購入いただけます。",
            "購買已取消，未向您收取任何費用。您隨時可以重新購買。"
        )
        static let purchaseInvalid = Texts(
            "This purchase is not valid. "
                + "Please restore your purchases; if that does not help, contact support.",
            "この購入は無効です。購入の復元を行ってください。"
                + "解決しない場合は、サポートまでお問い合わせください。",
            "這筆購買無效。請恢復購買項目；若仍未解決，請聯絡客服。"
        )
        static let productUnavailable = Texts(
            "This product is not on sale at the moment. Please choose another one.",
            "この商品は現在お取り扱いしておりません。ほかの商品をお選びください。",
            "目前未提供此商品。請選擇其他商品。"
        )
        static let verificationFailed = Texts(
            "We could not verify this purchase, so it has not unlocked anything. "
                + "Please restore your purchases; if that does not help, contact support.",
            "購入を確認できなかったため、機能は有効になっていません。購入の復元を行ってください。"
                + "解決しない場合は、サポートまでお問い合わせください。",
            "無法驗證這筆購買，因此尚未解鎖任何功能。請恢復購買項目；若仍未解決，請聯絡客服。"
        )
        static let invalidSignature = Texts(
            "The signature of this purchase is not valid. "
                + "Please restore your purchases; if that does not help, contact support.",
            "購入データの署名が正しくありません。購入の復元を行ってください。"
                + "解決しない場合は、サポートまでお問い合わせください。",
            "這筆購買的簽章無效。請恢復購買項目；若仍未解決，請聯絡客服。"
        )
        static let keyNotFound = Texts(
            "We cannot check this purchase just now. Please try again in a few minutes.",
            "ただいま購入を確認できません。数分後にもう一度お試しください。",
            "目前無法驗證這筆購買。請於幾分鐘後再試一次。"
        )
        static let decodingError = Texts(
            "The app received data that it cannot read. "
                + "Please update the app; if that does not help, contact support.",
            "データを読み取れませんでした。アプリを最新版に更新してください。"
                + "解決しない場合は、サポートまでお問い合わせください。",
            "無法讀取收到的資料。請將 App 更新至最新版本；若仍未解決，請聯絡客服。"
        )
        static let databaseError = Texts(
            "Your data could not be read or saved. Please try again in a few minutes.",
            "データの読み込みまたは保存ができませんでした。数分後にもう一度お試しください。",
            "無法讀取或儲存資料。請於幾分鐘後再試一次。"
        )
        static let unknown = Texts(
            "Something unexpected happened. Please contact support.",
            "予期しない問題が発生しました。お手数ですが、サポートまでお問い合わせください。",
            "發生未預期的問題。請聯絡客服。"
        )
    }

    private static func texts(_ reason: ServiceError.Reason) -> Texts {
        switch reason {
        case .notSigned: Reasons.notSigned
        case .wrongBundle: Reasons.wrongBundle
        case .revoked: Reasons.revoked
        case .claimedByAnother: Reasons.claimedByAnother
        case .trialUsed: Reasons.trialUsed
        case .notOffered: Reasons.notOffered
        case .nothingToUndo: Reasons.nothingToUndo
        case .notIncluded: Reasons.notIncluded
        case .overLimit: Reasons.overLimit
        case .signedOut: Reasons.signedOut
        case .forbidden: Reasons.forbidden
        case .sentBefore: Reasons.sentBefore
        case .tooManyRequests: Reasons.tooManyRequests
        case .busy: Reasons.busy
        }
    }

    /// The messages of reasons, which say more.
    private enum Reasons {
        static let notSigned = Texts(
            "This purchase does not carry the store's signature, so we cannot accept it. "
                + "Please restore your purchases from the store.",
            "この購入にはストアの署名がないため、お受けできません。ストアから購入を復元してください。",
            "這筆購買沒有商店的簽章，因此無法受理。請從商店恢復購買項目。"
        )
        static let wrongBundle = Texts(
            "This purchase belongs to another app. Please use it in the app where you bought it.",
            "この購入は別のアプリのものです。購入されたアプリでご利用ください。",
            "這筆購買屬於另一個 App。請在當初購買的 App 中使用。"
        )
        static let revoked = Texts(
            "The store has refunded or revoked this purchase. "
                + "You can buy it again; if you think this is a mistake, contact support.",
            "この購入は、ストアによって返金または取り消しされています。あらためてご購入いただけます。"
                + "お心当たりがない場合は、サポートまでお問い合わせください。",
            "商店已將這筆購買退款或撤銷。您可以重新購買；如認為有誤，請聯絡客服。"
        )
        static let claimedByAnother = Texts(
            "This purchase belongs to another account. "
                + "Please sign in with that account, or contact support.",
            "この購入は別のアカウントのものです。そのアカウントでサインインするか、サポートまでお問い合わせください。",
            "這筆購買屬於另一個帳號。請以該帳號登入，或聯絡客服。"
        )
        static let trialUsed = Texts(
            "You have had this free trial already. Please choose a plan to go on.",
            "この無料トライアルはすでにご利用済みです。続けるにはプランをお選びください。",
            "您已使用過這項免費試用。若要繼續，請選擇方案。"
        )
        static let notOffered = Texts(
            "The app asked for something that is not offered. "
                + "Please update the app; if that does not help, contact support.",
            "アプリが求めたものは提供されていません。アプリを最新版に更新してください。"
                + "解決しない場合は、サポートまでお問い合わせください。",
            "App 要求的項目並未提供。請將 App 更新至最新版本；若仍未解決，請聯絡客服。"
        )
        static let nothingToUndo = Texts(
            "There is nothing to take back: it was not recorded, or was taken back before.",
            "取り消すものがありません。記録されていないか、すでに取り消されています。",
            "沒有可撤回的項目：先前未曾記錄，或已經撤回。"
        )
        static let notIncluded = Texts(
            "Your plan does not include this feature. Please choose one that does.",
            "現在のプランでは、この機能をご利用いただけません。対応するプランをお選びください。",
            "您目前的方案不包含此功能。請選擇包含此功能的方案。"
        )
        static let overLimit = Texts(
            "You have used this as much as your plan allows for now. "
                + "Please come back later, or choose a larger plan.",
            "現在のプランでのご利用上限に達しました。時間をおいてご利用いただくか、上位のプランをお選びください。",
            "您已達到目前方案的使用上限。請稍後再使用，或選擇更高的方案。"
        )
        static let signedOut = Texts(
            "You are signed out. Please sign in to go on.",
            "サインアウトしています。続けるにはサインインしてください。",
            "您已登出。若要繼續，請先登入。"
        )
        static let forbidden = Texts(
            "Your account does not allow this. "
                + "Please sign in with another account, or contact support.",
            "このアカウントではこの操作を行えません。別のアカウントでサインインするか、サポートまでお問い合わせください。",
            "您的帳號不允許此操作。請以其他帳號登入，或聯絡客服。"
        )
        static let sentBefore = Texts(
            "This was sent before with other details, so nothing has changed. "
                + "Please start over.",
            "同じ操作が別の内容ですでに送信されているため、変更は行われていません。はじめからやり直してください。",
            "這項操作先前已以不同內容送出，因此未作任何變更。請從頭開始。"
        )
        static let tooManyRequests = Texts(
            "There were too many requests in a short time. "
                + "Please wait a moment and try again.",
            "短時間に多くのリクエストがありました。少し待ってから、もう一度お試しください。",
            "短時間內的要求過多。請稍候片刻後再試一次。"
        )
        static let busy = Texts(
            "The service cannot answer just now. Please try again in a few minutes.",
            "ただいまサービスが応答できません。数分後にもう一度お試しください。",
            "服務目前無法回應。請於幾分鐘後再試一次。"
        )
    }
}
