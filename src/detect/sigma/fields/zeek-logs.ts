/**
 * Fields of Zeek's logs by log name, as written by Zeek's own scripts and commonly loaded scripts. An unlisted log
 * comes from a custom script, and is assumed to have any field. `…id` is replaced by the uid, addresses and ports of a
 * connection.
 */
const logs = {
  conn: '…id proto service duration orig_bytes resp_bytes conn_state local_orig local_resp missed_bytes history orig_pkts orig_ip_bytes resp_pkts resp_ip_bytes tunnel_parents ip_proto community_id vlan inner_vlan orig_l2_addr resp_l2_addr failed_service speculative_service orig_cc resp_cc',
  dns: '…id proto trans_id rtt query qclass qclass_name qtype qtype_name rcode rcode_name AA TC RD RA Z answers TTLs rejected opcode opcode_name auth addl original_query community_id',
  http: '…id trans_depth method host uri referrer version user_agent origin request_body_len response_body_len status_code status_msg info_code info_msg tags username password proxied orig_fuids orig_filenames orig_mime_types resp_fuids resp_filenames resp_mime_types client_header_names server_header_names cookie_vars uri_vars community_id',
  ssl: '…id version cipher curve server_name resumed last_alert next_protocol established ssl_history cert_chain_fps client_cert_chain_fps cert_chain_fuids client_cert_chain_fuids subject issuer client_subject client_issuer sni_matches_cert validation_status ja3 ja3s ja4 ja4s ocsp_status notary community_id',
  x509: 'id fingerprint certificate.version certificate.serial certificate.subject certificate.issuer certificate.cn certificate.not_valid_before certificate.not_valid_after certificate.key_alg certificate.sig_alg certificate.key_type certificate.key_length certificate.exponent certificate.curve san.dns san.uri san.email san.ip san.other_fields basic_constraints.ca basic_constraints.path_len host_cert client_cert cert',
  files:
    '…id fuid tx_hosts rx_hosts conn_uids source depth analyzers mime_type filename duration local_orig is_orig seen_bytes total_bytes missing_bytes overflow_bytes timedout parent_fuid md5 sha1 sha256 extracted extracted_cutoff extracted_size entropy',
  smb_files: '…id fuid action path name size prev_name times.modified times.accessed times.created times.changed',
  smb_mapping: '…id path service native_file_system share_type',
  dce_rpc: '…id rtt named_pipe endpoint operation',
  kerberos:
    '…id request_type client service success error_code error_msg from till cipher forwardable renewable client_cert_subject client_cert_fuid server_cert_subject server_cert_fuid auth_ticket new_ticket logged',
  ntlm: '…id username hostname domainname server_nb_computer_name server_dns_computer_name server_tree_name success status',
  rdp: '…id cookie result security_protocol client_channels keyboard_layout client_build client_name client_dig_product_id desktop_width desktop_height requested_color_depth cert_type cert_count cert_permanent encryption_level encryption_method ssl',
  ssh: '…id version auth_success auth_attempts direction client server cipher_alg mac_alg compression_alg kex_alg host_key_alg host_key remote_location.country_code remote_location.region remote_location.city hasshVersion hassh hasshServer hasshAlgorithms cshka hasshServerAlgorithms sshka',
  ftp: '…id user password command arg mime_type file_size reply_code reply_msg data_channel.passive data_channel.orig_h data_channel.resp_h data_channel.resp_p fuid',
  smtp: '…id trans_depth helo mailfrom rcptto date from to cc reply_to msg_id in_reply_to subject x_originating_ip first_received second_received last_reply path user_agent tls fuids is_webmail',
  notice:
    '…id fuid file_mime_type file_desc proto note msg sub src dst p n peer_descr actions email_dest suppress_for remote_location.country_code',
  weird: '…id name addl notice peer source',
  intel: '…id seen.indicator seen.indicator_type seen.where seen.node matched sources fuid file_mime_type file_desc',
  dhcp: 'uids client_addr server_addr client_port server_port mac host_name client_fqdn domain requested_addr assigned_addr lease_time client_message server_message msg_types duration',
  software:
    'host host_p software_type name version.major version.minor version.minor2 version.minor3 version.addl unparsed_version url',
  known_hosts: 'host',
  known_services: 'host port_num port_proto service',
  known_certs: 'host port_num subject issuer_subject serial',
  known_devices: 'mac dhcp_host_name',
  pe: 'id machine compile_ts os subsystem is_exe is_64bit uses_aslr uses_dep uses_code_integrity uses_seh has_import_table has_export_table has_cert_table has_debug_data section_names',
  snmp: '…id duration version community get_requests get_bulk_requests get_responses set_requests display_string up_since',
  socks: '…id version user password status request.host request.name request_p bound.host bound.name bound_p',
  tunnel: '…id tunnel_type action',
  irc: '…id nick user command value addl dcc_file_name dcc_file_size dcc_mime_type fuid',
  mysql: '…id cmd arg success rows response',
  radius: '…id username mac framed_addr tunnel_client connect_info reply_msg result ttl',
  sip: '…id trans_depth method uri date request_from request_to response_from response_to reply_to call_id seq subject request_path response_path user_agent status_code status_msg warning request_body_len response_body_len content_type',
  syslog: '…id proto facility severity message',
  ntp: '…id version mode stratum poll precision root_delay root_disp ref_id ref_time org_time rec_time xmt_time num_exts',
  modbus: '…id tid unit func pdu_type exception',
  dnp3: '…id fc_request fc_reply iin',
  ldap: '…id message_id version opcode result diagnostic_message object argument',
  ldap_search:
    '…id message_id scope deref_aliases base_object result_count result diagnostic_message filter attributes',
  quic: '…id version client_initial_dcid client_scid server_scid server_name client_protocol history',
  rfb: '…id client_major_version client_minor_version server_major_version server_minor_version authentication_method auth share_flag desktop_name width height',
  traceroute: 'src dst proto',
} as const;

const connection = 'uid id.orig_h id.orig_p id.resp_h id.resp_p';
/** Fields added to every record by writers and clusters. */
const envelope = 'ts _path _write_ts _node_name _system_name';

/**
 * Logs that have the fields of another log, by name. `open_conn` and `conn_long` are logs of open connections by
 * widely used scripts.
 */
const alike: Readonly<Record<string, keyof typeof logs>> = { open_conn: 'conn', conn_long: 'conn' };

const fieldsOf: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [...Object.entries(logs), ...Object.entries(alike).map(([name, like]) => [name, logs[like]] as const)].map(
    ([name, fields]) => [name, new Set(`${envelope} ${fields.replace('…id', connection)}`.split(' '))],
  ),
);

/** Logs with known fields. */
export const zeekLogs: readonly string[] = [...fieldsOf.keys()];

/** Returns the fields of a log; undefined for an unknown log, which may have any field. */
export function zeekFields(log: string): ReadonlySet<string> | undefined {
  return fieldsOf.get(log);
}

/** Returns the field with this name in any of the notations. */
export function zeekName(fields: ReadonlySet<string>, name: string): string | undefined {
  if (fields.has(name)) return name;
  for (const field of fields) if (field.includes('.') && field.replaceAll('.', '_') === name) return field;
  return undefined;
}
