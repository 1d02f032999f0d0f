import HTTPTypes

/// The cookies of whoever is signed in to the pages (RFC 6265bis).
enum PageCookie {
    /// Who is signed in by it: somebody who follows a customer's link stays signed in to the console.
    enum Holder {
        /// Whoever runs the ledger.
        case console
        /// A customer of an app.
        case customer

        /// Behind TLS it keeps neighbours of the host from setting one: such a name counts alone there.
        fileprivate func name(isSecure: Bool) -> String {
            let name =
                switch self {
                case .console: "entitle"
                case .customer: "entitle-customer"
                }
            return (isSecure ? "__Host-" : "") + name
        }
    }

    /// The header that sets it; an empty value takes it back.
    static func header(
        _ value: String,
        isSecure: Bool,
        of holder: Holder = .console
    ) -> String {
        holder.name(isSecure: isSecure)
            + "=\(value); Path=/; HttpOnly; SameSite=Lax"
            + (isSecure ? "; Secure" : "") + (value.isEmpty ? "; Max-Age=0" : "")
    }

    /// What a request brings; nil: none.
    static func value(in headers: HTTPFields, isSecure: Bool, of holder: Holder) -> String? {
        let name = holder.name(isSecure: isSecure)
        // HTTP/2 may send several (RFC 9113, section 8.2.3).
        for header in headers[values: .cookie] {
            for pair in header.split(separator: ";") {
                let parts = pair.drop { $0 == " " }.split(
                    separator: "=",
                    maxSplits: 1,
                    omittingEmptySubsequences: false
                )
                guard parts.count == 2, parts[0] == name, !parts[1].isEmpty else { continue }
                return String(parts[1])
            }
        }
        return nil
    }
}
