import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
const outputMax = 64 * 1024 * 1024

const python = `
import email, json, sys
from pathlib import Path

def text_of(part):
    return part.get_payload(decode=True).decode(part.get_content_charset())

def copy_in(part):
    inner = part.get_payload(0)
    return {
        'type': inner.get_content_type(),
        'text': text_of(inner),
        'defects': [repr(d) for d in inner.defects],
    }

for path in sorted(Path(sys.argv[1]).glob('*.eml')):
    mail = email.message_from_bytes(path.read_bytes())
    parts = mail.get_payload()
    defects = [repr(d) for part in [mail, *parts] for d in part.defects]
    print(json.dumps({
        'name': path.name,
        'type': mail.get_content_type(),
        'parts': [part.get_content_type() for part in parts],
        'fields': [[name, value] for name, value in parts[1].get_payload(0).items()],
        'text': text_of(parts[0]),
        'copy': copy_in(parts[2]),
        'defects': defects,
    }))
`

const perl = `
use strict; use warnings;
use JSON; use Sisimai;
my $read = Sisimai->can('rise') || Sisimai->can('make');
for my $file (sort glob("$ARGV[0]/*.eml")) {
  my $found = Sisimai->$read($file) || [];
  my ($name) = $file =~ m{([^/]+)$};
  print encode_json({ name => $name, results => [map {
    { reason => $_->reason, type => $_->feedbacktype, recipient => $_->recipient->address }
  } @$found] }), "\\n";
}
`

/** The result of Python's email package for a feedback report. */
export type PythonReading = {
  name: string
  type: string
  parts: string[]
  fields: [string, string][]
  text: string
  /** The copy of the reported message. */
  copy: { type: string; text: string; defects: string[] }
  defects: string[]
}

/** The result of Perl's Sisimai for a feedback report. */
export type SisimaiReading = {
  name: string
  results: { reason: string; type: string; recipient: string }[]
}

/** Parses all mails of a folder with Python's email package; returns the results by file name. */
export async function readByPython(folder: string): Promise<Map<string, PythonReading>> {
  return byName(await output('python3', ['-c', python, folder]))
}

/** Reads feedback reports with Sisimai, from Debian's libsisimai-perl or newer. */
export async function readBySisimai(folder: string): Promise<Map<string, SisimaiReading>> {
  return byName(await output('perl', ['-e', perl, folder]))
}

async function output(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(program, args, { maxBuffer: outputMax })
  return stdout
}

function byName<T extends { name: string }>(lines: string): Map<string, T> {
  const read = lines
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T)
  return new Map(read.map((one) => [one.name, one]))
}
