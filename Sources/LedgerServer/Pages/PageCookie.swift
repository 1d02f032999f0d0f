import HTTPTypes

/// The cookie of whoever is signed in to the pages (RFC 6265bis).
enum PageCookie {
    /// Behind TLS its name keeps others of the same host from setting it.
    private static let secureName = "__Host-entitle"
    private static let plainName = "entitle"

    /// The header that sets it; an empty value takes it back.
    static func header(_ value: String, isSecure: Bool) -> String {
        (isSecure ? secureName : plainName) + "=\(value); Path=/; HttpOnly; SameSite=Lax"
            + (isSecure ? "; Secure" : "") + (value.isEmpty ? "; Max-Age=0" : "")
    }

    /// What a request brings; nil: none.
    static func value(in headers: HTTPFields) -> String? {
        // HTTP/2 may send several (RFC 9113, section 8.2.3).
        for header in headers[values: .cookie] {
            for pair in header.split(separator: ";") {
                let parts = pair.drop { $0 == " " }.split(
                    separator: "=",
                    maxSplits: 1,
                    omittingEmptySubsequences: false
                )
                guard parts.count == 2, parts[0] == secureName || parts[0] == plainName,
                    !parts[1].isEmpty
                else { continue }
                return String(parts[1])
            }
        }
        return nil
    }
}
