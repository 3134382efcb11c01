import type { AttachmentFeatures } from '../../pieces/features/attachment-features.ts'
import type {
  AuthenticationFeatures,
  AuthorFeatures,
  BulkFeatures,
} from '../../pieces/features/author-features.ts'
import type { KindFeatures, OriginFeatures } from '../../pieces/features/features.ts'
import type { HeaderFeatures } from '../../pieces/features/header-features.ts'
import type { LinkFeatures } from '../../pieces/features/link-features.ts'
import type { TextFeatures } from '../../pieces/features/text-features.ts'
import { bool, double, type FactTable, string, strings } from './fact.ts'

/** Links. All facts but `count` use the first 60 links. */
export const linksTable: FactTable<LinkFeatures> = {
  count: double('How many links there are; at most 200.'),
  hosts: double('How many different hosts they lead to.'),
  domains: double('How many different registrable domains they lead to.'),
  ip_hosts: double('How many hosts are addresses instead of names.'),
  odd_ports: double('How many links name a port other than 80 and 443.'),
  idn_hosts: double('How many hosts are internationalized (Punycode).'),
  disguised_hosts: double('How many hosts have letters that look like Latin ones.'),
  user_infos: double('How many links have an @ before the host.'),
  shown_differs: double('How many links show an address of another organization; at most 100.'),
  shorteners: double('How many hosts are services that hide where a link leads.'),
  free_hosting: double('How many links lead to where anybody puts pages for nothing.'),
  forms: double('How many targets of forms there are.'),
  redirects: double('How many links carry another address in their parameters.'),
  executables: double('How many links name a program or an archive.'),
  site_internals: double('How many links lead into the inner folders of a site, as wp-content.'),
  active: double('How many sorts of links run a script or carry a page: javascript:, data:.'),
  chars_max: double('How long the longest link is.'),
  labels_max: double('How many labels the longest host has.'),
  host_digits_max: double('How many digits a host has, at most.'),
  host_hyphens_max: double('How many hyphens a host has, at most.'),
  insecure_share: double('Links by plain http among all, 0 to 1.'),
  parameters_mean: double('Parameters of a link, on average.'),
  author_share: double('Links to the author’s organization among all, 0 to 1.'),
  only_foreign_domain: bool('All links lead to one domain, which is not the author’s.'),
  names_recipient: bool('A link has the recipient’s address in it.'),
  has_unsubscribe: bool('A link or the end of the text speaks of unsubscribing.'),
}

/** Attachments. */
export const attachmentsTable: FactTable<AttachmentFeatures> = {
  count: double('How many files are attached or embedded.'),
  kilobytes: double('How long all of them are together, in KiB.'),
  images: double('How many are pictures.'),
  pdfs: double('How many are PDF files.'),
  office: double('How many are documents, tables or slides of office programs.'),
  macros: double('How many can run macros: by name, or because there are some.'),
  executables: double('How many are programs, by name or content.'),
  scripts: double('How many are scripts that Windows or a shell runs.'),
  web_pages: double('How many are HTML or SVG files.'),
  archives: double('How many are archives.'),
  encrypted_archives: double('How many are ZIP archives with a password.'),
  disk_images: double('How many are disk images.'),
  shortcuts: double('How many are shortcuts (.lnk, .url …).'),
  messages: double('How many are messages.'),
  calendars: double('How many are calendar entries.'),
  double_extensions: double('How many look like a document and are a program or page: a.pdf.exe.'),
  disguised_names: double('How many names turn their direction, or hide their end behind blanks.'),
  type_differs: double('How many are something else than their name or type says.'),
  extensions: strings('What their names end in, sorted, each once; at most 10.'),
}

/**
 * Visible text. Of long texts the first 1,024 to 12,288 characters are used, depending on the fact.
 */
export const textTable: FactTable<TextFeatures> = {
  words: double('How many words are shown; at most 4,000.'),
  is_empty: bool('Nothing is shown: no word and no picture.'),
  html_only: bool('There is an HTML part and no text/plain part.'),
  html_kilobytes: double('How long the HTML part is, in KiB.'),
  html_per_character: double('How many characters of HTML there are for one that is shown.'),
  hidden_styles: double('How many ways of hiding text the HTML part uses, of seven.'),
  plain_part_differs: bool('The text/plain part says something else than the HTML part.'),
  images: double('How many pictures the HTML part shows; at most 50.'),
  images_only: bool('There are pictures and fewer than 20 words.'),
  forms: bool('The HTML part has a form or a field to fill.'),
  scripts: bool('The HTML part has a script.'),
  frames: bool('The HTML part embeds a frame or an object.'),
  comments: double('How many comments the HTML part has; at most 20.'),
  upper_share: double('Capitals among the Latin letters, 0 to 1; 0 for fewer than 40 letters.'),
  exclamations: double('How many exclamation marks there are.'),
  hidden_characters: double('How many characters show nothing or turn the direction.'),
  look_alikes: double('How many letters of other alphabets pose as Latin ones.'),
  language: string('en, fr, de, es, it, pt, nl, sv or pl, by its common words; empty if unknown.'),
  script: string(
    'The alphabet of most letters: latin, cyrillic, chinese …; empty without letters.',
  ),
  money_words: double('How often money is spoken of, by a short list of seven languages.'),
  urgency_words: double('How often haste is asked for, by a short list of seven languages.'),
  credential_words: double('How often accounts and passwords are spoken of, by a short list.'),
  threat_words: double(
    'How often there is a threat, to block an account as well; by a short list.',
  ),
  prize_words: double('How often something is won or given away, by a short list.'),
  generic_greeting: bool('It greets nobody by name: dear customer, cher client and the like.'),
  opt_out_words: double('How often it speaks of unsubscribing, by a short list.'),
  telephones: double('How many telephone numbers there are; at most 8.'),
  payment_addresses: double('How many cryptocurrency addresses there are; at most 8.'),
  bank_accounts: double('How many bank accounts (IBAN) there are; at most 8.'),
  mail_addresses: double('How many mail addresses there are in the text; at most 8.'),
}

/** Kind of the message. */
export const messageTable: FactTable<KindFeatures> = {
  kind: string('message, dsn, feedback-report or auto-reply.'),
  is_machine_answer: bool(
    'A mail system wrote it: a bounce, an automatic reply, a feedback report.',
  ),
  kilobytes: double('How long the whole message is, in KiB.'),
  has_text: bool('There is a text/plain part with something in it.'),
  has_html: bool('There is an HTML part.'),
  has_attachment: bool('A file is attached or embedded.'),
  has_list_unsubscribe: bool('List-Unsubscribe gives a web or mail address.'),
}

/** Form of the header. */
export const headersTable: FactTable<HeaderFeatures> = {
  fields: double('How many fields the header has.'),
  date_missing: bool('There is no Date field.'),
  date_duplicate: bool('There is more than one Date field.'),
  date_malformed: bool('The Date field names no date.'),
  date_hours_ahead: double(
    'Hours by which Date is later than the newest Received line; below 0 when it is earlier.',
  ),
  from_missing: bool('There is no From field.'),
  from_duplicate: bool('There is more than one From field.'),
  from_addresses: double('How many mailboxes From names.'),
  message_id_missing: bool('There is no Message-ID.'),
  message_id_duplicate: bool('There is more than one Message-ID.'),
  message_id_malformed: bool('The Message-ID is not of the form <left@right>.'),
  message_id_local: bool('The right side of the Message-ID is no name of the Internet.'),
  message_id_foreign: bool(
    'The Message-ID is of another organization than the author and the return path.',
  ),
  subject_missing: bool('There is no Subject field.'),
  subject_duplicate: bool('There is more than one Subject field.'),
  subject_chars: double('How many characters the subject has.'),
  subject_upper_share: double(
    'Capitals among the letters of the subject, 0 to 1; 0 for fewer than 8 letters.',
  ),
  subject_exclamations: double('How many exclamation marks the subject has.'),
  subject_disguised: bool('The subject has invisible characters or letters of other alphabets.'),
  subject_names_recipient: bool('The subject has the local part of the recipient’s address.'),
  subject_claims_reply: bool('The subject begins with Re:, but nothing is replied to.'),
  subject_long_blank: bool('The subject has eight blanks and more in a row.'),
  to_missing: bool('There is neither To nor Cc.'),
  to_undisclosed: bool('To says that the recipients are not disclosed.'),
  to_is_author: bool('The first recipient is the author.'),
  recipients: double('How many mailboxes To and Cc name.'),
  mime_version_missing: bool('A multipart message has no MIME-Version.'),
  boundary_missing: bool('A multipart message names no boundary.'),
  needlessly_encoded: bool('Subject or From is in base64, though plain ASCII.'),
  raw_eight_bit: bool('Subject or From has bytes beyond ASCII that are not encoded.'),
  reply_to_given: bool('Reply-To has an address.'),
  reply_to_other_domain: bool('Reply-To is of another organization than the author.'),
  reply_to_free_mail: bool('Reply-To is a free mailbox, and not the author’s address.'),
  sender_other_domain: bool('Sender is of another organization than the author.'),
  return_path_other_domain: bool('The return path is of another organization than the author.'),
  return_path_empty: bool('The return path is empty, as that of a bounce.'),
  mailer: string('The program it names, in lower case, without version; at most 60 characters.'),
  mailer_is_script: bool('It names a script that web sites send by.'),
  mailer_contradicted: bool('The program it names does not write such boundaries.'),
  priority_high: bool('It says that it is urgent: X-Priority 1 or 2, Importance high.'),
  is_answer: bool('In-Reply-To or References name another message.'),
}

/** Author as stated in the message. */
export const authorTable: FactTable<AuthorFeatures> = {
  domain: string('The domain of the address in From.'),
  organization: string('The registrable domain of the address in From.'),
  top_level_domain: string('The last label of the author’s domain.'),
  domain_missing: bool('From has no address with a domain.'),
  domain_not_public: bool('The author’s domain cannot be on the Internet.'),
  domain_free_mail: bool('The author’s address is of a free mail provider.'),
  domain_idn: bool('The author’s domain is internationalized (Punycode).'),
  domain_disguised: bool('The author’s domain has letters that look like Latin ones.'),
  domain_labels: double('How many labels the author’s domain has.'),
  domain_hyphens: double('How many hyphens the author’s domain has.'),
  domain_digits: double('How many digits the author’s domain has.'),
  local_chars: double('How long the local part of the author’s address is.'),
  local_digits: double('How many digits the local part of the author’s address has.'),
  local_random: bool('The local part of the author’s address looks as if made by chance.'),
  local_is_role: bool('The local part is a role, as no-reply, info, support or admin.'),
  name_missing: bool('From has no display name.'),
  name_chars: double('How long the display name is.'),
  name_has_address: bool('The display name has a mail address in it.'),
  name_other_address: bool('The display name has a mail address of another organization.'),
  name_other_domain: bool('The display name has a domain of another organization.'),
  name_disguised: bool('The display name has invisible characters or letters of other alphabets.'),
  name_is_office: bool('The display name is an office (support, bank …) at a free mail provider.'),
  name_is_recipient_domain: bool(
    'The display name is as the recipient’s organization, not its own.',
  ),
}

/** Signs of bulk mail. */
export const bulkTable: FactTable<BulkFeatures> = {
  is_bulk: bool('It says that many get it: Precedence, List-Id, List-Unsubscribe, Feedback-ID.'),
  unsubscribe_by_web: bool('List-Unsubscribe gives a web address.'),
  unsubscribe_by_mail: bool('List-Unsubscribe gives a mail address.'),
  one_click: bool('One request is enough to unsubscribe (RFC 8058).'),
  unsubscribe_of_author: bool('The address to unsubscribe at is of the author’s organization.'),
  unsubscribe_of_signer: bool('The address to unsubscribe at is of an organization that signed.'),
  unsubscribe_missing: bool('Precedence is bulk, list or junk, and there is no List-Unsubscribe.'),
  precedence: string('The Precedence field in lower case.'),
  has_list_id: bool('There is a List-Id.'),
  list_id: string('The identifier in List-Id, in lower case.'),
  has_list_post: bool('There is a List-Post field: a list for discussion.'),
  has_feedback_id: bool('There is a Feedback-ID.'),
  has_complaint_address: bool('It names an address for complaints, as CFBL-Address.'),
  is_automatic: bool('Auto-Submitted says that no person wrote it.'),
}

/** Authentication results. */
export const authenticationTable: FactTable<AuthenticationFeatures> = {
  checked: bool('The DNS was asked; without it all of this group but dkim_signatures is empty.'),
  spf: string('pass, fail, softfail, neutral, none, temperror or permerror; empty if not checked.'),
  spf_aligned: bool('SPF passed for the author’s organization.'),
  dkim_signatures: double('How many DKIM signatures there are, verified or not.'),
  dkim_passes: double('How many DKIM signatures were verified; at most 4 are looked at.'),
  dkim_fails: double('How many DKIM signatures do not fit the message; it may have been changed.'),
  dkim_aligned: bool('A verified signature is of the author’s organization.'),
  dmarc: string('pass, fail, none or unknown; empty if not checked.'),
  dmarc_policy: string('What the author’s domain asks for: none, quarantine or reject.'),
  arc: string('pass, fail, none, temperror or unchecked; empty if not checked.'),
  author_stands_behind: bool('DMARC passed, or an aligned signature or SPF did.'),
  author_disowns: bool('DMARC failed, and the author’s domain asks to refuse that.'),
  signers: strings('The domains of verified signatures; at most 4.'),
}

/** Origin and route. */
export const originTable: FactTable<OriginFeatures> = {
  found: bool('The machine that handed it over is known.'),
  confidence: double('How sure the origin is, 0 to 1.'),
  hops: double('How many Received lines there are; at most 100.'),
  hops_below: double('How many Received lines stand below the origin’s: nobody vouches for those.'),
  forged_hops: double('How many Received lines cannot be true.'),
  has_forged_hop: bool('A Received line below the hand-over was invented.'),
  time_runs_backwards: bool('A Received line is later than the one above it, by over an hour.'),
  reserved_address: bool('A Received line names an address that no machine can have.'),
  posing_literal: bool('A machine called itself by an address that it does not have.'),
  broken_chain: bool('The writer of a Received line is not the machine named above.'),
  borrowed_name: bool('A Received line says a known provider wrote it, and none did.'),
  rdns_missing: bool('The line of the origin gives no name that was looked up for it.'),
  rdns_generic: bool('The name of the origin is that of a line, not of a mail server.'),
  rdns_organization: string('The registrable domain of the name of the origin.'),
  helo_missing: bool('The line of the origin does not say what it called itself.'),
  helo_literal: bool('The origin called itself by an address.'),
  helo_bare: bool('The origin called itself by a name without a dot.'),
  helo_fits_rdns: bool('What it called itself and its name are of one organization.'),
  is_ipv6: bool('The address of the origin is of IPv6.'),
  is_encrypted: bool('The origin handed it over encrypted.'),
  is_known_provider: bool('The origin is of a mail provider that we know.'),
  is_authenticated: bool('The origin proved who it was: it is a customer of the receiver.'),
  submitter_known: bool('The client behind the sending provider is known.'),
  submitter_by_web: bool('It was written in a browser, as the sending provider says.'),
}
