/// An object in what Google Play says.
typealias PlayObject = PayloadObject
