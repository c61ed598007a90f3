#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

exit(Tool.run(Array(CommandLine.arguments.dropFirst())))
