import type { Severity } from '../contract/vocabulary.ts';

interface NoticeKind {
  readonly severity: Severity;
  /** MITRE ATT&CK identifiers of tactics. */
  readonly tactics?: readonly string[];
  /** MITRE ATT&CK identifiers of techniques. */
  readonly techniques?: readonly string[];
}

const scan = { tactics: ['TA0007'], techniques: ['T1046'] };
const guessing = { tactics: ['TA0006'], techniques: ['T1110.001'] };
const webExploit = { tactics: ['TA0001'], techniques: ['T1190'] };

/**
 * The notices of Zeek's own scripts (scripts/base, scripts/policy). The severity assumes that the notice is
 * correct: high and critical for a successful intrusion or known malware, medium for an attempt, low for weak
 * or unusual behaviour, informational for messages about the sensor itself.
 */
export const noticeKinds: ReadonlyMap<string, NoticeKind> = new Map<string, NoticeKind>([
  ['Heartbleed::SSL_Heartbeat_Attack_Success', { severity: 'critical', ...webExploit }],
  ['SSH::Login_By_Password_Guesser', { severity: 'critical', ...guessing }],

  ['FTP::Site_Exec_Success', { severity: 'high', ...webExploit }],
  ['HTTP::SQL_Injection_Attacker', { severity: 'high', ...webExploit }],
  ['HTTP::SQL_Injection_Victim', { severity: 'high', ...webExploit }],
  ['Heartbleed::SSL_Heartbeat_Attack', { severity: 'high', ...webExploit }],
  ['Intel::Notice', { severity: 'high' }],
  ['Signatures::Multiple_Sig_Responders', { severity: 'high' }],
  ['Signatures::Multiple_Signatures', { severity: 'high' }],
  ['Signatures::Sensitive_Signature', { severity: 'high' }],
  ['TeamCymruMalwareHashRegistry::Match', { severity: 'high', tactics: ['TA0002'], techniques: ['T1204.002'] }],

  ['Conn::Retransmission_Inconsistency', { severity: 'medium' }],
  ['FTP::Bruteforcing', { severity: 'medium', ...guessing }],
  ['Heartbleed::SSL_Heartbeat_Many_Requests', { severity: 'medium', ...webExploit }],
  ['SMTP::Suspicious_Origination', { severity: 'medium' }],
  ['SSH::Password_Guessing', { severity: 'medium', ...guessing }],
  ['SSH::Watched_Country_Login', { severity: 'medium', tactics: ['TA0001'], techniques: ['T1078'] }],
  ['Scan::Address_Scan', { severity: 'medium', ...scan }],
  ['Scan::Port_Scan', { severity: 'medium', ...scan }],
  ['Scan::Random_Scan', { severity: 'medium', ...scan }],
  ['Signatures::Count_Signature', { severity: 'medium' }],
  ['Software::Vulnerable_Version', { severity: 'medium' }],

  ['DNS::External_Name', { severity: 'low' }],
  ['Heartbleed::SSL_Heartbeat_Odd_Length', { severity: 'low' }],
  ['ProtocolDetector::Protocol_Found', { severity: 'low' }],
  ['ProtocolDetector::Server_Found', { severity: 'low' }],
  ['SMTP::Blocklist_Blocked_Host', { severity: 'low' }],
  ['SMTP::Blocklist_Error_Message', { severity: 'low' }],
  ['SSH::Interesting_Hostname_Login', { severity: 'low' }],
  ['SSL::Certificate_Expired', { severity: 'low' }],
  ['SSL::Certificate_Not_Valid_Yet', { severity: 'low' }],
  ['SSL::Invalid_Ocsp_Response', { severity: 'low' }],
  ['SSL::Invalid_Server_Cert', { severity: 'low' }],
  ['SSL::Old_Version', { severity: 'low' }],
  ['SSL::Weak_Cipher', { severity: 'low' }],
  ['SSL::Weak_Key', { severity: 'low' }],
  ['Signatures::Signature_Summary', { severity: 'low' }],
  ['Traceroute::Detected', { severity: 'low', tactics: ['TA0007'], techniques: ['T1016'] }],
  ['Weird::Activity', { severity: 'low' }],

  ['CaptureLoss::Too_Little_Traffic', { severity: 'informational' }],
  ['CaptureLoss::Too_Much_Loss', { severity: 'informational' }],
  ['Conn::Ack_Above_Hole', { severity: 'informational' }],
  ['Conn::Content_Gap', { severity: 'informational' }],
  ['PacketFilter::Cannot_BPF_Shunt_Conn', { severity: 'informational' }],
  ['PacketFilter::Compile_Failure', { severity: 'informational' }],
  ['PacketFilter::Dropped_Packets', { severity: 'informational' }],
  ['PacketFilter::Install_Failure', { severity: 'informational' }],
  ['PacketFilter::No_More_Conn_Shunts_Available', { severity: 'informational' }],
  ['PacketFilter::Too_Long_To_Compile_Filter', { severity: 'informational' }],
  ['SSL::Certificate_Expires_Soon', { severity: 'informational' }],
  ['Software::Software_Version_Change', { severity: 'informational' }],
]);
