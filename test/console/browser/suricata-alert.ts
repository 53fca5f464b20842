/**
 * Returns the line of a current EVE alert between two hosts: rule 1:`id` with the title `signature`.
 * `severity`: 1 is the highest.
 */
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
