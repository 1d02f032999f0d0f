// Unsafe: libpq's list of settings, which it makes and frees, and which is read between.

import CPostgres

/// libpq's connection strings, looked at before they are used.
package enum ConnectionText {
    /// What is against one.
    package enum Fault: Sendable {
        /// libpq cannot read it; where it stumbled would tell what stands there.
        case malformed
        /// A password stands in it: everybody on the machine sees what a command is run with.
        case password
    }

    /// What is against a connection string, in either of its forms; nil: nothing, or libpq is not there to read it.
    package static func fault(in text: String) -> Fault? {
        guard unsafe libpq_handle() != nil else { return nil }
        var error: UnsafeMutablePointer<CChar>?
        let options = unsafe libpq_conninfoParse(text, &error)
        defer { unsafe libpq_freemem(error) }
        guard let options = unsafe options else { return .malformed }
        defer { unsafe libpq_conninfoFree(options) }
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            let word = unsafe String(cString: keyword)
            if unsafe option.pointee.val != nil, word.hasSuffix("password") { return .password }
            unsafe option += 1
        }
        return nil
    }
}
