/// What `--help` prints.
package enum HelpText {
  /// `gannet --help`.
  package static let fetch = """
    usage: gannet [flags] URL…           fetch
           gannet demo                   see it work: no network needed
           gannet parse [flags]          read a response from standard input, the wire layers alone
           gannet serve [flags] FILE…    play recordings to any client
           gannet help [COMMAND]         this text, or that of a command

    Fetches each URL over HTTP/1.1, http or https. Flags are curl's where both have them, but redirects are followed,
    gzip is asked for and undone unless -H gives Accept-Encoding or Range, and -u is sent once the server asks. Several
    URLs run at once when each has its own -o; on standard output they come one after the other.

      -o, --output FILE       write the body to FILE; the first -o is for the first URL, and so on. - is standard output,
                              the default: a terminal shows a binary body only where - says so. A file that was begun
                              is kept when the load fails. The parts of a stream are written one after the other.
          --parts DIR         save each part of a multipart/x-mixed-replace stream as DIR/part-000001.jpg and so on
                              (for several URLs: DIR/1/part-000001.jpg). A name ends in .part while the part is not
                              known to be whole: one in which the stream was cut keeps it. Files of an earlier run
                              stay unless a part takes their name. multipart/mixed, and a body of another type that
                              begins with a delimiter, as ffmpeg's does, are taken for streams too. What is none goes
                              where it would go without --parts, and is a failure
          --max-parts N       end each load once N parts are complete
          --snapshot FILE     save the next complete part of a stream as FILE, and end; streams are those of --parts
          --reconnect[=SECONDS]   load a stream that ended or failed again, after SECONDS (1), then twice as long each
                              time, up to a minute; after a complete part from the beginning. What would fail the same
                              way again is not tried again
      -O, --remote-name       as -o, with the name that the URL ends with
      -i, --include           print the head of each response before its body, those of redirects among them
      -I, --head              send HEAD and print the response's head
      -w, --write-out FORMAT  print FORMAT on standard output after each load: %{name} is a variable, %header{Name} a
                              field of the response, %{json} all variables as JSON, %% a %, \\n a line end; @FILE is a
                              file with the format. An unknown name is answered with the list of them. Times are seconds
                              from the start of the load; ssl_verify_result is 0 when the certificate is trusted, 1 when
                              not, and empty with -k; what --max-time, --max-parts or --snapshot ends has
                              time_total alone
      -f, --fail              a status of 400 or above is a failure, its body is not written
      -s, --silent            no progress, and no message about a load that fails: the exit status alone tells
      -S, --show-error        with -s: messages all the same
      -v, --verbose           show connections (*), requests (>) and responses (<) on standard error, secrets as ***
          --events[=body]     print each callback as a line of JSON on standard output, in place of the body (=body:
                              with the data)

      -X, --request METHOD    the method of the first request; a redirect may turn POST into GET
      -H, --header LINE       a field "Name: value"; "Name;" for an empty one; "Name:" leaves out one that would be
                              sent by itself; @FILE reads such lines from FILE, but for those that begin with #
      -A, --user-agent NAME   the field User-Agent; an empty name leaves it out
      -d, --data DATA         send DATA by POST as a form does; @FILE is a file's contents without line ends and NULs,
                              @- those of standard input; several are joined by &
          --data-binary DATA  the same, but @FILE is a file's contents as they are
          --json DATA         send DATA, or the contents of @FILE, by POST as application/json, and accept that; several
                              follow each other without &
      -F, --form PART         send a form with files by POST (multipart/form-data). PART is name=text, name=@FILE for a file
                              or name=<FILE for a field with its contents (- is standard input), and then any of
                              ;type=TYPE and ;filename=NAME; a FILE or NAME may stand in quotation marks
          --form-string PART  the same, but what follows name= is the text as it stands
      -T, --upload-file FILE  send FILE by PUT; the first -T is for the first URL, and so on. To a URL that ends in / its
                              name is added. - is standard input, sent in chunks as it comes, which cannot be sent
                              again when a redirect or a login asks for that
          --expect100-timeout SECONDS   how long a body waits for the server to ask for it (the usual: 1; 0: it
                              doesn't). A body of more than 1 MiB, or of unknown length, waits unless -H "Expect:"
                              says otherwise
      -0, --http1.0           send requests as HTTP/1.0
      -u, --user USER[:PASS]  the answer when the server asks for a login, by Digest or else by Basic; a password that is
                              not given is asked for. It is sent only once the server has asked, and
                              to no other that a redirect leads to (scheme, host or port)
      -b, --cookie COOKIES    send these cookies (NAME=VALUE; NAME=VALUE) or, without a = in it, those of a file in
                              Netscape's format, and those that responses set ("" has no file)
      -c, --cookie-jar FILE   write the cookies of -b FILE and of the responses to FILE at the end (- is standard output)
          --no-redirect       do not follow redirects: the response that redirects is the result
      -L, --location          follow them: so it is done anyway

      -k, --insecure          accept any certificate
          --cacert FILE       trust the authorities in this PEM file, and no others
          --connect-timeout SECONDS   for finding and connecting to the host (0: the usual 30)
      -m, --max-time SECONDS  for the whole of each load (0: no limit)
          --unix-socket PATH  connect to this socket, whatever the URL's host is

          --record FILE       write what goes over the connections to FILE, for --replay, serve and tests (- is
                              standard output)
          --record-secrets    as it is: otherwise passwords, cookies and credentials are masked
          --replay FILE       load what was recorded in FILE again, without the network

      -h, --help              this text
      -V, --version           the version


    """ + exitCodes(ExitCode.ofFetch, note: "(the first URL's that failed, when there are several)")

  /// `gannet serve --help`.
  package static let serve = """
    usage: gannet serve [flags] FILE…

    Plays the server's side of recordings (made by gannet --record) on 127.0.0.1 to any client. Prints the URL to fetch
    for each FILE, on standard error also the method when it is not GET, then answers until Ctrl-C or --count: each
    recorded request waits for one whole request, whatever its bytes. Recorded hosts and ports in Location and in the
    fields of parts become this server's.

      --port N       listen on port N, further recorded hosts and files on the ports after it (default: any free ports)
      --tls          serve over TLS what was recorded over https, or all when nothing was; without it all is plain http
      --ca-out FILE  write the authority of the certificate to FILE, for a client to trust
      --count N      end when each FILE has been loaded N times (default: never)
      --once         the same as --count 1
      -h, --help     this text


    """
    + exitCodes([.finished, .badUsage, .cannotWrite, .cannotRead, .tlsFailed, .cannotListen])

  /// `gannet demo --help`.
  package static let demo = """
    usage: gannet demo

    Plays recorded answers on 127.0.0.1 and fetches them through real sockets: a plain one, one with gzip, one in chunks,
    a chain of redirects that begins with the canonical step, one behind a Basic challenge, one over TLS, and a stream of
    pictures. Prints each callback as it comes, and at the end what was received, how fast, and whether it is right.

      -h, --help     this text

    exit status:
        0  everything was received as it was recorded
        1  something was not

    """ + exitCodes([.badUsage, .cannotWrite, .tlsFailed, .cannotListen], heading: false)

  private static func exitCodes(
    _ codes: [ExitCode], note: String = "", heading: Bool = true
  ) -> String {
    var text = heading ? "exit status\(note.isEmpty ? "" : " " + note):\n" : ""
    for code in codes {
      let number = String(code.rawValue)
      text +=
        String(repeating: " ", count: max(0, 5 - number.utf8.count)) + number + "  " + code.meaning + "\n"
    }
    return text
  }
}
