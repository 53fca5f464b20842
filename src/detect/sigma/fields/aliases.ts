import type { Accessor } from '../record.ts';
import * as made from './computed.ts';
import { allOf, firstOf, nestedPath, zeekPath } from './paths.ts';

/**
 * Locations of a field in records: by kind, otherwise by the family of the kind, which is the part before the dot. A
 * text is a path in the names of the family. In a list of paths, the first path that exists in the record is used. A
 * field without an entry for `ecs` has its first name in ECS records, if that name is an ECS name.
 */
export type Places = Readonly<Record<string, string | readonly string[] | Accessor>>;

export interface Alias {
  /**
   * Names of the field in rules, case-insensitive: the ECS name first, then the names of Sigma, sensors and
   * products.
   */
  readonly names: string;
  readonly at: Places;
}

/** Reads from the object that EVE names after the record type. Alerts include that object as well. */
function eve(type: 'dns' | 'http', read: Accessor): Places {
  return {
    [`suricata.${type}`]: read,
    'suricata.alert': read,
    ...(type === 'http' ? { 'suricata.fileinfo': read } : {}),
  };
}

const zeekUri = zeekPath('uri');
const zeekUrl = made.fullUrl(zeekPath('host'), zeekUri);
const eveUri = nestedPath('http.url');
const eveUrl = made.fullUrl(nestedPath('http.hostname'), eveUri);

const ecsUri = firstOf(nestedPath('url.original'), nestedPath('url.full'), nestedPath('url.path'));
const ecsUrl = firstOf(nestedPath('url.full'), made.fullUrl(nestedPath('url.domain'), ecsUri));

const zeekQuery = zeekPath('query');
const eveQuery = firstOf(nestedPath('dns.queries.rrname'), nestedPath('dns.query.rrname'), nestedPath('dns.rrname'));
const firstEveQuery: Accessor = (record) => {
  const name = eveQuery(record);
  return Array.isArray(name) ? name[0] : name;
};

/** Derives a value from the name of a DNS question, in each kind of record with a question. */
const ofQuestion = (make: (read: Accessor) => Accessor): Places => ({
  'zeek.dns': make(zeekQuery),
  ...eve('dns', make(firstEveQuery)),
  'candor.dns_event': make((record) => record.query),
  'ecs.dns': make(nestedPath('dns.question.name')),
});

const ofUri = (make: (read: Accessor) => Accessor): Places => ({
  'zeek.http': make(zeekUri),
  ...eve('http', make(eveUri)),
  'ecs.http': make(ecsUri),
});

/** Flags in the header of a DNS message, and the attributes of DNS events with the same meaning. */
const headerFlags = [
  ['AA', 'authoritative'],
  ['TC', 'truncated'],
  ['RD', 'recursion_desired'],
  ['RA', 'recursion_available'],
] as const;

const setFlags = (read: (flag: string, attribute: string) => Accessor): Accessor =>
  made.flags(Object.fromEntries(headerFlags.map(([flag, attribute]) => [flag, read(flag, attribute)])));

/**
 * Reads fields from a table. Each line has the names of a field, a bar, and its places: a kind or family, a colon, and
 * one or more paths separated by commas.
 */
function plain(table: string): Alias[] {
  return table
    .trim()
    .split('\n')
    .map((line) => {
      const [names = '', places = ''] = line.trim().split(' | ');
      return { names, at: Object.fromEntries(places.split(' ').map(placeOf)) };
    });
}

function placeOf(text: string): [kind: string, place: string | readonly string[]] {
  const [kind = '', paths = ''] = text.split(':');
  return [kind, paths.includes(',') ? paths.split(',') : paths];
}

/**
 * All fields with several names, and their locations. For other fields, rules use the sensor's own name. A field may
 * have several values, any of which may match. `c-uri` is the URL without a host, as in sensor records, and the URL
 * with a host, as in proxy logs. A DNS code has two values: its name and its number.
 */
export const aliases: readonly Alias[] = [
  // Addresses and ports
  ...plain(`
    source.mac src_mac orig_l2_addr | zeek.conn:orig_l2_addr suricata:ether.src_mac,ether.src_macs candor:src_mac
    destination.mac dst_mac resp_l2_addr | zeek.conn:resp_l2_addr suricata:ether.dest_mac,ether.dest_macs candor:dst_mac
  `),
  {
    names: 'source.ip src_ip src sourceip source_ip client.ip c-ip id.orig_h id_orig_h srcip',
    at: {
      zeek: 'id.orig_h',
      'zeek.notice': ['id.orig_h', 'src'],
      'zeek.dhcp': 'client_addr',
      suricata: 'src_ip',
      'suricata.dns': made.suricataDnsEnd(true, 'src_ip', 'dest_ip'),
      candor: 'src_ip',
      ecs: ['source.ip', 'client.ip'],
    },
  },
  {
    names: 'source.port src_port sourceport source_port client.port c-port id.orig_p id_orig_p srcport',
    at: {
      zeek: 'id.orig_p',
      suricata: 'src_port',
      'suricata.dns': made.suricataDnsEnd(true, 'src_port', 'dest_port'),
      candor: 'src_port',
      ecs: ['source.port', 'client.port'],
    },
  },
  {
    names:
      'destination.ip dst_ip dst dest_ip destinationip destination_ip server.ip s-ip r-ip id.resp_h id_resp_h dstip',
    at: {
      zeek: 'id.resp_h',
      'zeek.notice': ['id.resp_h', 'dst'],
      'zeek.dhcp': 'server_addr',
      suricata: 'dest_ip',
      'suricata.dns': made.suricataDnsEnd(false, 'src_ip', 'dest_ip'),
      candor: 'dst_ip',
      ecs: ['destination.ip', 'server.ip'],
    },
  },
  {
    names:
      'destination.port dst_port dest_port destinationport destination_port server.port s-port id.resp_p id_resp_p dstport',
    at: {
      zeek: 'id.resp_p',
      'zeek.known_services': 'port_num',
      suricata: 'dest_port',
      'suricata.dns': made.suricataDnsEnd(false, 'src_port', 'dest_port'),
      candor: 'dst_port',
      ecs: ['destination.port', 'server.port'],
    },
  },
  // Flows
  ...plain(`
    source.bytes src_bytes bytes_out sent_bytes orig_ip_bytes | zeek.conn:orig_ip_bytes suricata:flow.bytes_toserver candor.network_event:src_bytes
    destination.bytes dst_bytes bytes_in received_bytes resp_ip_bytes | zeek.conn:resp_ip_bytes suricata:flow.bytes_toclient candor.network_event:dst_bytes
    src_payload_bytes orig_bytes | zeek.conn:orig_bytes candor.network_event:src_payload_bytes
    dst_payload_bytes resp_bytes | zeek.conn:resp_bytes candor.network_event:dst_payload_bytes
    source.packets src_packets orig_pkts | zeek.conn:orig_pkts suricata:flow.pkts_toserver candor.network_event:src_packets
    destination.packets dst_packets resp_pkts | zeek.conn:resp_pkts suricata:flow.pkts_toclient candor.network_event:dst_packets
    missed_bytes | zeek.conn:missed_bytes candor.network_event:missed_bytes
    network.transport protocol proto transport | zeek.conn:proto zeek.dns:proto zeek.notice:proto suricata:proto candor:transport
    network.state conn_state | zeek.conn:conn_state suricata:flow.state candor.network_event:conn_state
    network.history history | zeek.conn:history suricata:tcp.tcp_flags candor.network_event:history
    network.community_id community_id | zeek:community_id suricata:community_id candor:community_id
    network.direction direction | candor.network_event:direction
    network.vlan.id vlan | zeek.conn:vlan suricata:vlan candor.network_event:vlan
    @timestamp timestamp event.start eventtime _time | zeek:ts suricata:timestamp candor:timestamp
    connection_id uid flow_id event.id | zeek:uid suricata:flow_id candor:connection_id ecs:zeek.session_id,flow.id,event.id
    observer.name sensor | zeek:_system_name,_node_name suricata:host candor:sensor
    event.action action | suricata.alert:alert.action suricata.flow:flow.action
  `),
  {
    names: 'network.protocol app_protocol app_proto application service',
    at: {
      'zeek.conn': made.listed(zeekPath('service')),
      suricata: 'app_proto',
      'candor.network_event': made.spelled(allOf(nestedPath('app_protocol'), nestedPath('app_protocols'))),
    },
  },
  {
    names: 'network.type',
    at: {
      zeek: made.ipVersion(zeekPath('id.orig_h')),
      suricata: made.ipVersion(nestedPath('src_ip')),
      candor: made.ipVersion(nestedPath('src_ip')),
      ecs: firstOf(nestedPath('network.type'), made.ipVersion(nestedPath('source.ip'))),
    },
  },
  {
    names: 'event.duration duration',
    at: {
      'zeek.conn': 'duration',
      suricata: 'flow.age',
      'candor.network_event': made.scaled(1 / 1000)(nestedPath('duration_ms')),
      ecs: made.scaled(1e-9)(nestedPath('event.duration')),
    },
  },
  // DNS
  ...plain(`
    dns.question.type record_type qtype_name querytype dns.rrtype qtype | zeek.dns:qtype_name suricata:dns.queries.rrtype,dns.query.rrtype,dns.rrtype candor.dns_event:qtype
    dns.question.class qclass_name qclass | zeek.dns:qclass_name candor.dns_event:qclass
    dns.id trans_id transaction_id | zeek.dns:trans_id suricata:dns.id candor.dns_event:transaction_id
    dns.answers.data answer answers queryresults dns.resolved_ip dns.answer | zeek.dns:answers suricata:dns.answers.rdata,dns.answer.answers.rdata,dns.rdata candor.dns_event:answers.data ecs:dns.answers.data,dns.resolved_ip
    dns.answers.ttl ttl ttls | zeek.dns:TTLs suricata:dns.answers.ttl,dns.ttl candor.dns_event:answers.ttl
    dns.answers.type | suricata:dns.answers.rrtype,dns.rrtype candor.dns_event:answers.type
    dns.answers.name | suricata:dns.answers.rrname,dns.rrname
    rcode | zeek.dns:rcode suricata:dns.rcode candor.dns_event:rcode
    rejected | zeek.dns:rejected candor.dns_event:rejected
    dns.type | suricata:dns.type candor.dns_event:kind
  `),
  {
    names: 'dns.question.name query queryname dns_query dns.query dns.rrname question r-dns-query',
    at: { 'zeek.dns': 'query', ...eve('dns', eveQuery), 'candor.dns_event': 'query' },
  },
  {
    names: 'dns.question.registered_domain query_etld_plus_one parent_domain registered_domain',
    at: ofQuestion(made.registered),
  },
  { names: 'dns.question.subdomain subdomain', at: ofQuestion(made.subdomain) },
  { names: 'dns.question.top_level_domain', at: ofQuestion(made.publicSuffix) },
  { names: 'query_length question_length dns.question.length', at: ofQuestion(made.length) },
  {
    names: 'dns.response.code dns.response_code response_code rcode_name',
    at: {
      'zeek.dns': allOf(zeekPath('rcode_name'), zeekPath('rcode')),
      suricata: 'dns.rcode',
      'candor.dns_event': allOf(nestedPath('rcode_name'), nestedPath('rcode')),
      ecs: ['dns.response_code', 'dns.response.code'],
    },
  },
  {
    names: 'dns.header_flags dns.header.flags',
    at: {
      'zeek.dns': setFlags((flag) => zeekPath(flag)),
      ...eve(
        'dns',
        setFlags((flag) => nestedPath(`dns.${flag.toLowerCase()}`)),
      ),
      'candor.dns_event': setFlags((_flag, attribute) => nestedPath(attribute)),
    },
  },
  ...headerFlags.map(
    ([flag, attribute]): Alias => ({
      names: flag,
      at: {
        'zeek.dns': flag,
        suricata: `dns.${flag.toLowerCase()}`,
        'candor.dns_event': attribute,
        'ecs.dns': made.includes(flag)(nestedPath('dns.header_flags')),
      },
    }),
  ),
  // HTTP
  ...plain(`
    http.request.method cs-method method http_method http.method requestmethod | zeek.http:method suricata:http.http_method
    url.original uri | zeek.http:uri suricata:http.url
    user_agent.original c-useragent cs-user-agent cs-useragent user_agent useragent http.user_agent http_user_agent | zeek.http:user_agent suricata:http.http_user_agent
    http.request.referrer cs-referrer cs-referer referrer referer c-referer | zeek.http:referrer suricata:http.http_refer
    http.response.status_code sc-status status_code status http.status http_status | zeek.http:status_code suricata:http.status
    http.version cs-version | zeek.http:version suricata:http.protocol
    http.request.mime_type orig_mime_types | zeek.http:orig_mime_types
    http.response.mime_type resp_mime_types sc-content-type content-type | zeek.http:resp_mime_types suricata:http.http_content_type
    http.request.body.bytes cs-bytes request_body_len | zeek.http:request_body_len suricata:http.request_length
    http.response.body.bytes sc-bytes response_body_len | zeek.http:response_body_len suricata:http.length
    cs-cookie cookie | suricata:http.cookie
    user.name cs-username username user | zeek.http:username zeek.ntlm:username zeek.ftp:user zeek.radius:username zeek.socks:user
  `),
  {
    names: 'url.domain cs-host host http.host r-dns http.hostname hostname destinationhostname',
    at: {
      'zeek.http': made.hostOf(zeekPath('host')),
      ...eve('http', made.hostOf(nestedPath('http.hostname'))),
      ecs: firstOf(nestedPath('url.domain'), nestedPath('destination.domain')),
    },
  },
  { names: 'url.full', at: { 'zeek.http': zeekUrl, ...eve('http', eveUrl), 'ecs.http': ecsUrl } },
  {
    names: 'c-uri cs-uri url http.url uri_full',
    at: {
      'zeek.http': allOf(zeekUri, zeekUrl),
      ...eve('http', allOf(eveUri, eveUrl)),
      'ecs.http': allOf(ecsUri, ecsUrl),
    },
  },
  { names: 'url.path c-uri-stem cs-uri-stem uri_path', at: ofUri(made.urlPath) },
  { names: 'url.query c-uri-query cs-uri-query uri_query', at: ofUri(made.urlQuery) },
  { names: 'url.extension c-uri-extension cs-uri-extension', at: ofUri(made.urlExtension) },
  // TLS and certificates
  ...plain(`
    tls.client.server_name server_name tls.sni sni | zeek.ssl:server_name suricata:tls.sni
    tls.version | zeek.ssl:version suricata:tls.version
    tls.cipher cipher | zeek.ssl:cipher
    tls.established established | zeek.ssl:established
    tls.resumed resumed | zeek.ssl:resumed suricata:tls.session_resumed
    tls.client.ja3 ja3 tls.ja3.hash | zeek.ssl:ja3 suricata:tls.ja3.hash
    tls.server.ja3s ja3s tls.ja3s.hash | zeek.ssl:ja3s suricata:tls.ja3s.hash
    tls.server.subject subject certificate.subject | zeek.ssl:subject zeek.x509:certificate.subject suricata:tls.subject
    tls.server.issuer issuer certificate.issuer | zeek.ssl:issuer zeek.x509:certificate.issuer suricata:tls.issuerdn
    x509.serial_number tls.server.x509.serial_number certificate.serial | zeek.x509:certificate.serial suricata:tls.serial
  `),
  // Files
  ...plain(`
    file.name filename | zeek.files:filename zeek.smb_files:name suricata:fileinfo.filename,smb.filename
    file.mime_type mime_type | zeek.files:mime_type suricata:fileinfo.magic
    file.size size | zeek.files:total_bytes zeek.smb_files:size suricata:fileinfo.size
    file.hash.md5 md5 | zeek.files:md5 suricata:fileinfo.md5
    file.hash.sha1 sha1 | zeek.files:sha1 suricata:fileinfo.sha1
    file.hash.sha256 sha256 | zeek.files:sha256 suricata:fileinfo.sha256
  `),
  // Sensor detections
  ...plain(`
    rule.name signature | suricata:alert.signature
    rule.id signature_id sid | suricata:alert.signature_id
    rule.category category | suricata:alert.category
    event.severity | suricata:alert.severity candor:severity
  `),
];
