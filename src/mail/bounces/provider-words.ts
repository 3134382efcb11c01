import type { BounceReason } from './reasons.ts'

/**
 * Looser phrases and phrases in other languages, searched only when nothing else gives the reason.
 * The text must be in lower case without accents. Narrower causes come first.
 */
export const widerPhrases: readonly (readonly [BounceReason, readonly RegExp[]])[] = [
  [
    'mailboxfull',
    [
      /(?:storage|mail ?box|inbox|quota) (?:\S+ ){0,3}(?:full|exceed\w*|exe+ded|exhausted)\b/,
      /exhausted (?:its |the )?(?:allowed )?storage|too many mails? on the server|overquota/,
      // Spanish, Portuguese, Italian, French.
      /(?:buzon|casilla) (?:\S+ ){0,4}llen[oa]|cuota (?:\S+ ){0,3}(?:excedida|superada)/,
      /caixa (?:postal|de correio) (?:\S+ ){0,3}cheia|casella (?:\S+ ){0,4}piena/,
      /boite (?:\S+ ){0,5}pleine|quota (?:\S+ ){0,3}(?:depasse|atteint|superat|excedid)/,
      // German, Dutch, Polish, Turkish, Russian, Chinese, Japanese.
      /(?:postfach|mailbox|quota) (?:\S+ ){0,4}(?:voll|uberschritten|ist vol\b|is vol\b)/,
      /zuviele mails auf dem server|skrzynka (?:\S+ ){0,3}(?:pelna|przepelniona)|kutusu dolu/,
      /ящик (?:\S+ ){0,3}(?:переполнен|заполнен)|превышен\S* (?:\S+ ){0,2}квот/,
      /邮箱(?:已满|空间不足|容量)|信箱已滿/,
      /容量(?:が|を)(?:いっぱい|超)|メールボックスがいっぱい/,
    ],
  ],
  [
    'suspend',
    [
      /(?:user|account|mailbox|recipient) (?:\S+ ){0,3}(?:not activated|disabled|inactive)\b/,
      /\binactive (?:user|recipient)|disableduser|status is locked|account has expired/,
      /mailbox \S{1,320} is restricted/,
      /(?:cuenta|usuario|casilla|conta) (?:\S+ ){0,4}(?:inactiv[oa]|suspendid[oa]|desativad)/,
      /(?:ha expirado|bloccat[oa]) (?:\S+ ){0,3}(?:falta de uso|inutilizzo)/,
      /compte (?:\S+ ){0,3}(?:desactive|suspendu|ferme)/,
      /konto (?:\S+ ){0,3}(?:gesperrt|zablokowane)/,
      /(?:postfach|mailbox|account) (?:\S+ ){0,3}(?:gesperrt|deaktiviert|geblokkeerd)/,
      /учетная запись (?:\S+ ){0,3}(?:заблокирована|отключена)/,
      /ящик (?:\S+ ){0,3}заблокирован/,
      /(?:帐号|账号|邮箱)(?:已)?(?:被)?(?:禁用|冻结|锁定|停用)/,
    ],
  ],
  [
    'userunknown',
    [
      /(?:user|recipient|mail ?box|address|account|mail drop|id) (?:\S+ ){0,3}not (?:found|exist)/,
      /\bno such (?:id|mail ?box|mail drop|address|recipient|account)/,
      /no mail-?box\b|not our customer/,
      /does not have an account|user path no exist|wrong recipients?|address_not_found/,
      /(?:recipient|address) (?:unrecogni[sz]ed|denied|not allowed)|cannot deliver mail for/,
      /(?:recipient|mailbox) (?:cannot|can't|could not) be (?:verified|found)/,
      /undeliverable address/,
      /not found in ldap|unable to find alias|invalid or unknown (?:virtual )?user|not exists\b/,
      /(?:account|mailbox) is (?:currently )?unavailable|mailbox name not allowed/,
      /old address no longer valid|not a member of domain/,
      // Spanish, Portuguese, Italian, French.
      /(?:usuario|destinatario|cuenta|direccion|buzon) (?:\S+ ){0,3}(?:inexistente|desconocid)/,
      /(?:usuario|destinatario|cuenta|buzon|conta) (?:\S+ ){0,3}(?:no existe|nao existe)/,
      /(?:usuario|destinatario) (?:\S+ ){0,2}(?:desconhecid|nao encontrad)/,
      /(?:destin\w*\.?|indirizzo|utente|casella) (?:\S+ ){0,3}(?:sconosciut|inesistente|errato)/,
      /(?:destinataire|adresse|utilisateur|boite) (?:\S+ ){0,4}(?:inconnue?|inexistante?|n'existe)/,
      // German, Dutch, Polish, Turkish, Scandinavian.
      /(?:benutzer|empfanger|adressat|adresse|postfach) (?:\S+ ){0,3}(?:unbekannt|existiert nicht)/,
      /(?:gebruiker|ontvanger|adres|postbus) (?:\S+ ){0,3}(?:onbekend|bestaat niet)/,
      /nie ma takiego (?:konta|uzytkownika)|nie istnieje/,
      /(?:uzytkownik|adres) (?:\S+ ){0,2}nieznany/,
      /kullan[iı]c[iı] (?:\S+ ){0,2}(?:bulunamad[iı]|yok)/,
      /(?:brukeren|anvandaren|mottagaren) finn?e?s? (?:inte|ikke)/,
      // Russian, Chinese, Japanese, Korean.
      /(?:пользовател|адресат|получател|ящик)\S{0,3} (?:\S+ ){0,3}(?:неизвест|не (?:найден|сущ))/,
      /(?:用户|收件人|邮箱|邮件地址)(?:地址)?不存在|查無此(?:人|帳號)|无此用户/,
      /(?:宛先|ユーザ|アドレス)\S{0,8}(?:不明|存在しま|見つかりま)/,
      /존재하지 않는/,
    ],
  ],
  [
    'norelaying',
    [
      /relaying (?:to \S{1,330} )?(?:not allowed|prohibited)|unauthori[sz]ed relay/,
      /allowed to relay/,
    ],
  ],
  [
    'authfailure',
    [
      /\bspf\b.{0,40}(?:unauthenticated|not permitted|softfail)|dmarc ?reject|domainkeys/,
      /dkim (?:signature )?(?:is )?(?:invalid|missing|bad)|mail ?from (?:failed|is mismatched)/,
    ],
  ],
  [
    'speeding',
    [
      /\bthrottl(?:ed|ing)\b|exceeded the rate limit|receivingrate|rate limit(?:ed|ing)?\b/,
      /(?:temporarily )?deferred - \[\d{3}\]|\[gl01\]/,
    ],
  ],
  ['toomanyconn', [/too many (?:sessions|connections|load)|server (?:is )?too busy/]],
  [
    'mesgtoobig',
    [/message size exceeds limit|(?:message|mail) (?:is )?too (?:big|large)|nachricht zu gro/],
  ],
  [
    'virusdetected',
    [/\b(?:virus|malware|trojan)\b(?!-free)|phish(?:ing)? (?:attempt|detected|url)/],
  ],
  [
    'spamdetected',
    [
      /(?:reject\w*|declared|suspicion of|as|seems as a?|detected) ?(?:- )?(?:spam|junk)/,
      /junk ?mail|spam scale|spamtrap|blocked for spam|antyspamowy|odrzucona przez/,
      /content (?:reject|refused|filter)|mail data refused|reject(?:ed)? - content/,
      /垃圾邮件|スパム|спам\b/,
    ],
  ],
  [
    'blocked',
    [
      /black ?-?listed|\b(?:dns )?blacklists?\b|in a dns black|listed (?:at|on|by|in)\b/,
      /(?:your|the) (?:ip|region|domain|host)\S{0,10} (?:\S+ ){0,5}(?:blocked|banned|listed)/,
      /\b(?:bad|banned|blocked) ips?\b|ips blocked|dial-?up|dynamic[- ]ips?\b|\(?rtr:bl|\bspamrl\b/,
      /(?:refused|denied) due to abuse|from your (?:country|location)|email blocked by/,
      /tosa@rx\.t-online|connection from \S{1,60} (?:was )?(?:rejected|refused)/,
      /\b(?:ou|sc|dy)-00\d?\b/,
      /greylist|client host rejected: access denied|mismatches client ip/,
    ],
  ],
  [
    'systemerror',
    [
      /temporary system failure|temporarily (?:unavailable|unable)|resources temporarily/,
      /system(?:\(\w\))? (?:busy|load)|too much load|too busy to accept|cannot access mailbox/,
      /cannot append message/,
    ],
  ],
  ['hostunknown', [/^(?:[45]\d\d )?domain name not found/]],
  ['networkerror', [/mail ?loop|cannot establish session|no mx for|name service error/]],
  [
    'rejected',
    [
      /sender (?:is |was )?(?:rejected|blacklisted|denied|domain resolve fail)|sender has no a,/,
      /(?:verification failed|callback setup failed) (?:for|while)|envelope blocked/,
      /\bblocked senders?\b|rejected by this user|multiple from addresses/,
    ],
  ],
  [
    'policyviolation',
    [
      /polic(?:y|ies)\b|anti-spoofing|password protected file|security regulations/,
      /required standards/,
    ],
  ],
  [
    'securityerror',
    [
      /authentication (?:is )?(?:required|mechanism)|requires authentication|smtp auth/,
      /starttls|tls (?:protocols?|version)/,
    ],
  ],
  ['expired', [/queue too long|not yet been delivered|delivery temporarily suspended/]],
]

/**
 * Phrases in replies of Gmail and Google Workspace, from Google's help page on SMTP errors, with
 * the reasons that Sisimai's table for this provider assigns.
 */
const googleWords: readonly (readonly [RegExp, BounceReason])[] = [
  // Authentication of the sender.
  [/spf record of the sending domain|spf record with a hard fail/, 'authfailure'],
  [/authenticate (?:their email )?with (?:either )?(?:spf|dkim)|'s dmarc policy/, 'authfailure'],
  [/(?:dkim|spf authentication) (?:does not|did ?n[o']t) pass|pass authentic/, 'authfailure'],
  [/aligned with either the authenticated spf or dkim/, 'authfailure'],
  [/very low reputation of the sending/, 'badreputation'],
  [/not in whitelist for rcpt domain|try again later, closing connection/, 'blocked'],
  [/unusual rate of (?:unsolicited )?mail|(?:helo|ehlo) argument (?:is )?(?:not|inv)/, 'blocked'],
  [/ptr record|match the ip address of the hostname/, 'requireptr'],
  [/mail sending denied|unauthenticated email is not accepted/, 'rejected'],
  [/mail relay denied|credentials for relay|send email directly to our/, 'norelaying'],
  [/starttls (?:command first|may not be)|tls required for rcpt|to use tls\/ssl/, 'failedstarttls'],
  [/password (?:required|not accepted)|through your web browser|login attempts/, 'securityerror'],
  // Size and rate.
  [/message header size|header (?:size|name) limit|limit of \d+ attach/, 'exceedlimit'],
  [/individual header size/, 'exceedlimit'],
  [/google's message size limit/, 'mesgtoobig'],
  [/(?:relay|sending|user) (?:\S+ )?(?:limit|quota) exceeded/, 'speeding'],
  [/mail too quickly|rate that prevents|mail has been rate limited/, 'speeding'],
  [/(?:message has )?too many recipients/, 'toomanyconn'],
  [/over quota|out of storage space|email quota exceeded/, 'mailboxfull'],
  // The recipient.
  [/tried to reach does not exist|find the recipient domain/, 'userunknown'],
  [/address <?\S{0,320} is not a valid rfc 5321/, 'userunknown'],
  [/tried to reach is (?:disabled|inactive)/, 'suspend'],
  // The message.
  [/likely unsolicited mail|nature of the content or the links/, 'spamdetected'],
  [/illegal attachment|potential security issue/, 'policyviolation'],
  [/has a policy that prohibited/, 'policyviolation'],
  [/message exceeded \d+ hops/, 'networkerror'],
  [/valid message-id:? header|(?:from: header|from:) are not accepted/, 'notcompliantrfc'],
  // The session.
  [/smtp protocol violation|unauthenticated commands|goodbye\./, 'syntaxerror'],
  [/optional argument not permitted|(?:ehlo\/helo|mail|rcpt) first/, 'syntaxerror'],
  [/policy size per transaction|destination domains per trans/, 'systemerror'],
]

/**
 * Phrases in replies of Exchange Online and Outlook.com, from Microsoft's pages on non-delivery
 * reports and on sending to Outlook.com, with the reasons that Sisimai's table for this provider
 * assigns.
 */
const microsoftWords: readonly (readonly [RegExp, BounceReason])[] = [
  // Replies of a remote server, which are quoted after an arrow.
  [/unknown recipient or mailbox unavailable/, 'userunknown'],
  // The recipient.
  [/recipient address rejected: access denied\.? as\(/, 'userunknown'],
  [/5\.4\.1 \S{0,330} ?recipient address rejected: access denied/, 'userunknown'],
  [/recipient(?: \S{1,320})? not found|reserved by rfc 2606/, 'userunknown'],
  [/recipient addresses in single label domains|invalid x\.400 address/, 'userunknown'],
  [/requested action not taken: mailbox unavailable/, 'userunknown'],
  [/mailbox unavailable(?!\. your)/, 'userunknown'],
  [/5\.7\.504 .{0,340}access denied|banned recipient|mailbox cannot be accessed/, 'suspend'],
  [/domain is not reachable/, 'hostunknown'],
  // The sender.
  [/pass either spf or dkim|sender policy framework violation/, 'authfailure'],
  [/does not pass dmarc|required authentication level/, 'authfailure'],
  [/rate limited due to ip reputation/, 'badreputation'],
  [/5\.7\.50[123] access denied|bad outbound sender|unknown sender address/, 'rejected'],
  [/must be rfc 5322 section|sending from unregistered domains/, 'rejected'],
  [/sender not in allowed|sender (?:was |is )?not authenticated/, 'rejected'],
  [/sendernotauthenticatedfor/, 'rejected'],
  [/must have a reverse dns record|access denied, (?:bad helo|rejected by rec)/, 'blocked'],
  [/banned send(?:er|ing ip) ?\[|customer block list|on our block list/, 'blocked'],
  [/access denied, please try again later|accept email over ipv6/, 'blocked'],
  [/5\.7\.7\d\d access denied, (?:tenant|traffic)/, 'speeding'],
  // Volume and rate.
  [/message receive limit|submission quota exceeded|exceeded permitted limits/, 'speeding'],
  [/daily limit for message recipients|recipient thread limit/, 'speeding'],
  [/exceeded the (?:rate|connection) limit|limits for how many messages/, 'speeding'],
  [/maximum number of connections|exceeded their limit for/, 'toomanyconn'],
  // The route and the message.
  [/5\.4\.310 dns domain \S{1,253} does not exist/, 'hostunknown'],
  [/relay access denied/, 'norelaying'],
  [/message expired|message delayed/, 'expired'],
  [/dns query failed|(?:4\.4|5\.4)\.31[2-6] .{0,40}connection refused/, 'networkerror'],
  [/connection dropped/, 'blocked'],
  [/4\.4\.1 .{0,60}connection timed out/, 'expired'],
  [/failed mta-sts validation|starttls is required to send/, 'failedstarttls'],
  [/header is too long|policy violation detected|5\.7\.9\d\d delivery not auth/, 'policyviolation'],
  [/server busy\. please try|agent busy|failed to be replicated/, 'systemerror'],
  [/misconfigured forwarding address|journaling on-premises/, 'systemerror'],
  [/content filter agent quarantined/, 'spamdetected'],
]

type ProviderWords = {
  hosts: RegExp
  words: readonly (readonly [RegExp, BounceReason])[]
  /**
   * Whether the provider's reports quote replies of remote servers, to which these phrases do not
   * apply.
   */
  isQuoting?: true
}

/**
 * Phrases that mean something else at large providers, by the name of the host that replied or of
 * the recipient's domain. Taken from the providers' postmaster pages and replies.
 */
const providerWords: readonly ProviderWords[] = [
  {
    hosts: /(?:^|\.)(?:ezweb\.ne\.jp|au\.com)$/,
    words: [
      [/: user unknown(?<=>: user unknown)/, 'userunknown'],
      [/^[^<>]{0,20}: user unknown/, 'filtered'],
      [/recipients was rejected by a remote mail server/, 'filtered'],
    ],
  },
  {
    hosts: /(?:^|\.)messagelabs\.com$/,
    words: [[/no such user|^542 .{0,80} rejected/, 'userunknown']],
  },
  {
    hosts: /(?:^|\.)mimecast\.com$/,
    words: [
      [
        /host network,? not allowed|anti-spoofing policy|content examination policy/,
        'policyviolation',
      ],
      [/rejected due to security policies/, 'virusdetected'],
      [/maximum email size exceeded/, 'mesgtoobig'],
      [/(?:spf|dkim|dmarc) sender invalid/, 'authfailure'],
      [/ct ip reputation|internal resources are temporarily unavailable/, 'badreputation'],
      [/route requires|invalid for this certificate/, 'failedstarttls'],
      [/envelope (?:blocked|rejected)|manually blocked senders|blocked senders - /, 'rejected'],
      [/open relay (?:is )?not allowed/, 'norelaying'],
      [/unable to process|message ended early/, 'systemerror'],
      [/sender address blocked|temporarily blacklisted|recipient temporarily un/, 'blocked'],
      [/account inbounds disabled/, 'notaccept'],
      [/invalid (?:address|recipient)|user unknown/, 'userunknown'],
    ],
  },
  {
    hosts: /(?:^|\.)(?:icloud\.com|me\.com|apple\.com|mac\.com)$/,
    words: [
      [/inactive email address|user does not exist|unknown or illegal alias/, 'userunknown'],
      [/not accepting connections|rejected due to (?:listing|having a domain)/, 'blocked'],
      [/recipient no longer on server/, 'hasmoved'],
      [/due to local policy/, 'policyviolation'],
      [/due to excessive volume/, 'speeding'],
    ],
  },
  {
    // Deferred at MAIL FROM because of the sender.
    hosts: /\.yahoodns\.net$/,
    words: [[/deferred due to unexpected volume .*\(in reply to mail from/, 'rejected']],
  },
  {
    hosts: /(?:^|\.)(?:yahoodns\.net|yahoo\.[a-z.]{2,6}|aol\.com)$/,
    words: [
      [/this user doesn't have an? |mailbox not found/, 'userunknown'],
      [/due to unexpected volume or user complaints/, 'badreputation'],
      [/is no longer valid|this mailbox is disabled/, 'suspend'],
      [/type=mx: malformed or unexpected name server reply/, 'notaccept'],
      [/unresolvable rfc\.5321 domain|permanently deferred/, 'rejected'],
    ],
  },
  {
    hosts: /(?:^|\.)(?:qq\.com|tencent\.com)$/,
    words: [
      [/suspected (?:bounce attacks|spam ip)|connection denied/, 'blocked'],
      [/suspected spam|rejected by recipients/, 'rejected'],
      [/frequency limited/, 'toomanyconn'],
      [/mailbox unavailable or access deni/, 'speeding'],
      [/mailbox not found/, 'userunknown'],
      [/bad address syntax/, 'syntaxerror'],
    ],
  },
  {
    hosts: /(?:^|\.)(?:hotmail|outlook|live|msn|office365)\.com$/,
    words: microsoftWords,
    isQuoting: true,
  },
  {
    hosts: /(?:^|\.)(?:google|gmail|googlemail)\.com$/,
    words: googleWords,
    isQuoting: true,
  },
  {
    hosts: /(?:^|\.)docomo\.ne\.jp$/,
    words: [
      [/552 too much mail data/, 'mailboxfull'],
      [/552 too many recipients/, 'toomanyconn'],
      // After the message data: the recipient's own list of blocked senders.
      [/^550 unknown user .{1,400}\(in reply to end of data/, 'rejected'],
      [/bad sequence of commands|parameter not implemented/, 'syntaxerror'],
    ],
  },
]

/**
 * The reason that a phrase means at its provider; undefined for other hosts and other phrases.
 * `hosts`: the remote host, the recipient's domain and the reporting host, as far as known.
 */
export function reasonOfProviderWords(
  text: string,
  hosts: readonly string[],
): BounceReason | undefined {
  const [remote = '', domain = '', reporting = ''] = hosts
  for (const host of [remote, domain, reporting]) {
    const isQuoted = host === reporting && remote !== '' && remote !== host
    const known = providerWords.filter(
      (one) => one.hosts.test(host) && !(isQuoted && one.isQuoting),
    )
    const meant = known.flatMap(({ words }) => words).find(([form]) => form.test(text))
    if (meant !== undefined) return meant[1]
  }
  return undefined
}
