import type { Phrases } from '../reasons.ts'

/** What is said of the way and the systems on it: no such host, no answer, out of order. */
export const deliveryPhrases: Phrases = {
  hostunknown: [
    /domain (?:name )?(?:(?:is invalid or )?does not exist|is not reachable|must exist)/,
    /no such domain/,
    /host or domain name not found(?!.{0,120}try again)|host (?:unknown|unreachable)/,
    /: host not found$|^the domain \S{1,253} does not exist|unknown (?:host|domain)/,
    /domain (?:[^.]|\.\b){0,60}(?:is unknown|must exist|may not exist)|name or service not known/,
    /unrout\w*able address|553 \S{1,253} does not exist|illegal host/,
    /host address lookups failed permanently|mx records point to non-existent/,
    /dns lookup failure: host|(?:can't|couldn't|cannot) find (?:any )?host named/,
    /smtpsend\.dns\.nonexistentdomain/,
  ],
  notaccept: [
    /(?:host|domain) does not accept (?:any )?(?:e-?mail|mail)|does not accept mail \(nullmx\)/,
    /null ?mx|mail receiving disabled|name server: \.: host not found|no mx (?:record )?found for/,
    /no route for current request|smtp protocol returned a permanent error/,
    /(?:mx|srv) record indicated no smtp service|no host found for existing smtp/,
    /find a mail exchanger or ip address|no mail-enabled subscriptions/,
  ],
  networkerror: [
    /could not connect and send|records for the destination computer could not/,
    /hop count exceeded|too many hops|exceeded \d+ hops|(?:mail|message|routing|forwarding) loop/,
    /loop(?:ing)? count exceeded|message (?:is )?looping|in a routing loop|host is unreachable/,
    /host name lookup failure|host not found, try again|name ?server reply|no route to host/,
    /unable to resolve route|unrouteable mail domain|dns (?:query|lookup) failed/,
    /network (?:is )?unreachable|(?:dns|network) error|no relevant answers/,
    /dns server (?:failure|returned answer with no data)|nxdomain/,
    /(?:connect(?:ion)? to \S{1,300}|connect): (?:connection refused|no route)/,
    /lost connection with|network error on destination|all mx(?:[^.]|\.\b){0,40}unreachable/,
  ],
  expired: [
    // No answer within the time of a session.
    /connection timed? ?out|conversation with \S{1,300} timed out|could not find a gateway/,
    /message timed out|server did not respond|was not reachable within|timeout - closing/,
    /did not accept our requests to connect|host not responding/,
    // Kept too long.
    /delivery (?:time )?expired|failed to deliver to domain|giving up(?: on)?/,
    /could not deliver for|have been failing for a long time|has not been collected/,
    /(?:in (?:the )?queue too long|message retry timeout)|message expired/,
    /retry time(?:out)? (?:not reached|exceeded)|after multiple retries|connection expired/,
    /could not be delivered for|not delivered within|queue expired|delivery timeout/,
    /(?:still|will) (?:be )?retr/,
    // Late, and still tried.
    /delivery attempts will continue|(?:has|have) been delayed|message delayed/,
    /(?:hasn't|has not) (?:yet )?been delivered/,
  ],
  systemerror: [
    // Loops.
    /forwarding loop broken|duplicated message-id|would create a mail loop/,
    /loop was found in the mail|loops back to myself/,
    // Set up wrongly.
    /local (?:configuration )?error|(?:mail|server|system) ?(?:system )?config(?:uration)? error/,
    /there is no mdb|remote server is misconfigured|violates rfc 1035|incorrectly configured/,
    /next-hop mta/,
    // Out of order for now.
    /service (?:is )?(?:currently|temporarily) unavailable|timeout waiting for input/,
    /temporary (?:local problem|system problem|server error)|server busy|agent busy/,
    /temporary (?:mta|lookup) failure|temporarily (?:not available|rejected)/,
    /service not (?:available|active)/,
    // On its own disk and in its own delivery.
    /can't create user output file|could not load drd|queue file write error/,
    /delivery to (?:file|pipe) forbidden|local delivery failed|lmtp error after|several matches/,
    /failed to be replicated/,
    // Broken.
    /internal (?:server )?error|interrupted system call|encountered an error while being/,
    /transaction failed |suspiciousremoteservererror/,
  ],
  systemfull: [
    /mail system full|mail action aborted: exceeded storage|insufficient system resources/,
    /insufficient system storage|too many messages in the queue|mail system congestion/,
  ],
  mailererror: [
    / \|\| exit |procmail: |bin\/(?:procmail|maildrop|maidrop)|command failed: |pipe to \|\//,
    /command (?:died with status|time limit exceeded)|command output:|mailer error|x-unix; /,
    /unknown mailer error/,
    /(?:transport|program|delivery agent) (?:[^.]|\.\b){0,40}(?:exit|returned|died)/,
  ],
  syntaxerror: [
    /angle-brackets nested|expected word or "<"|domain missing in source-routed|malformed address:/,
    /syntax error|command (?:not (?:recogni[sz]ed|implemented)|unrecogni[sz]ed)|bad address syntax/,
    /unrecogni[sz]ed (?:command|authentication)|bad sequence of commands|protocol violation/,
    /unimplemented command|send hello first/,
  ],
  suppressed: [/suppression list|onaccountsuppressionlist/],
}
