import Encodings
import Entitlements

/// The currencies in which the App Store sells: its configuration files say countries alone
/// (developer.apple.com/help/app-store-connect/reference/pricing-and-availability/app-store-pricing-and-availability-start-times-by-country-or-region).
enum AppStoreCurrency {
    /// The currency of a country (ISO 4217); nil: the country is not in the list.
    static func code(in storefront: Storefront) -> String? { codes[storefront.code] }

    private static let codes: [Name: String] = {
        var codes: [Name: String] = [:]
        for line in table.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            for country in words.dropFirst() { codes[country] = words[0] }
        }
        return codes
    }()

    /// A currency a line, then the countries (ISO 3166-1 alpha-2) in which it is taken.
    private static let table = """
        AED AE
        AUD AU
        BRL BR
        CAD CA
        CHF CH
        CLP CL
        CNY CN
        COP CO
        CZK CZ
        DKK DK
        EGP EG
        EUR AT BE CY DE EE ES FI FR GR HR IE IT LT LU LV MT NL PT SI SK
        GBP GB
        HKD HK
        HUF HU
        IDR ID
        ILS IL
        INR IN
        JPY JP
        KRW KR
        KZT KZ
        MXN MX
        MYR MY
        NGN NG
        NOK NO
        NZD NZ
        PEN PE
        PHP PH
        PKR PK
        PLN PL
        QAR QA
        RON RO
        RUB RU
        SAR SA
        SEK SE
        SGD SG
        THB TH
        TRY TR
        TWD TW
        TZS TZ
        USD US
        VND VN
        ZAR ZA
        """
}
