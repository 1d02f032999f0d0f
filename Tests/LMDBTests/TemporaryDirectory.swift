import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A directory of its own for one test, removed with its files at the end.
final class TemporaryDirectory {
    let path: String

    init() throws {
        var template = Array("/tmp/lmdb-tests-XXXXXX".utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { buffer -> String? in
            guard let start = buffer.baseAddress, let made = unsafe mkdtemp(start) else {
                return nil
            }
            return unsafe String(cString: made)
        }
        path = try #require(made)
    }

    deinit {
        if let directory = unsafe opendir(path) {
            while let entry = unsafe readdir(directory) {
                let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                    unsafe String(
                        cString: UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self)
                    )
                }
                _ = unsafe unlink("\(path)/\(name)")
            }
            unsafe closedir(directory)
        }
        _ = unsafe rmdir(path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }
}
