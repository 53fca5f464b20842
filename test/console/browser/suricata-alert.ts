/** An EVE alert of now between two hosts, as a line: rule 1:`id` says `signature`. `severity`: 1 is the gravest. */
export const suricataAlert = (id: number, signature: string, severity: number): string =>
  JSON.stringify({
    timestamp: new Date().toISOString(),
    event_type: 'alert',
    src_ip: '10.3.2.1',
    src_port: 1,
    dest_ip: '10.3.2.2',
    dest_port: 80,
    proto: 'TCP',
    alert: { gid: 1, signature_id: id, rev: 1, signature, category: 'x', severity },
  });
