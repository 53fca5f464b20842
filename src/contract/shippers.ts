/** Protocols of log shippers that the service emulates. */
export const shipperProtocols = ['elasticsearch', 'splunk', 'otlp'] as const;
export type ShipperProtocol = (typeof shipperProtocols)[number];
