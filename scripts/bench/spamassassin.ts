import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Reads the messages of a folder twice; prints microseconds of processor time per message. */
const program = `
use strict; use warnings;
use Mail::SpamAssassin; use Mail::SpamAssassin::PerMsgStatus;
my ($dir) = @ARGV;
my $sa = Mail::SpamAssassin->new({ local_tests_only => 1, dont_copy_prefs => 1,
  userstate_dir => $dir, userprefs_filename => '/dev/null',
  post_config_text => "use_bayes 0\\nuse_auto_whitelist 0\\n" });
$sa->compile_now(0);
my @raw = map { open my $in, '<:raw', $_ or die $!; local $/; scalar <$in> } glob "$dir/*.eml";
sub cpu { my ($user, $system) = times; $user + $system }
my $start = cpu();
for my $raw (@raw) {
  my $message = $sa->parse($raw, 0);
  $message->extract_message_metadata(Mail::SpamAssassin::PerMsgStatus->new($sa, $message));
  $message->finish;
}
my $walked = cpu();
for my $raw (@raw) {
  my $message = $sa->parse($raw, 0);
  my $status = $sa->check($message);
  $status->finish; $message->finish;
}
printf "%d %d", ($walked - $start) * 1e6 / @raw, (cpu() - $walked) * 1e6 / @raw;
`

/**
 * Returns the microseconds of processor time that SpamAssassin needs per message, with loaded rules
 * and without network tests. Undefined if it is not installed.
 */
export function timeSpamAssassin(
  messages: readonly Buffer[],
): { walkMicroseconds: number; checkMicroseconds: number } | undefined {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-'))
  try {
    for (const [at, raw] of messages.entries()) writeFileSync(path.join(folder, `${at}.eml`), raw)
    const { stdout, status } = spawnSync('perl', ['-e', program, folder], { encoding: 'utf8' })
    const [walk, check] = (stdout ?? '').split(' ').map(Number)
    if (status !== 0 || walk === undefined || check === undefined) return undefined
    return { walkMicroseconds: walk, checkMicroseconds: check }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
