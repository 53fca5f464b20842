/** What programs that ship logs speak to other services, and are answered in here. */
export const shipperProtocols = ['elasticsearch', 'splunk', 'otlp'] as const;
export type ShipperProtocol = (typeof shipperProtocols)[number];
