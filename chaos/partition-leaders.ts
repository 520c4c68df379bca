import { connect } from "node:http2";

/** A field of a protobuf message: its number, and its value as a number or, for texts and messages, as bytes. */
type Field = readonly [number: number, value: number | Buffer];

function readFields(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message[at++] ?? 0;
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    if (tag % 8 === 0) fields.push([number, varint()]);
    else if (tag % 8 === 2) {
      const length = varint();
      fields.push([number, message.subarray(at, at + length)]);
      at += length;
    } else throw new Error(`The engine's cluster state has a field of wire type ${tag % 8}`);
  }
  return fields;
}

const fieldValue = (fields: readonly Field[], wanted: number) => fields.find(([number]) => number === wanted)?.[1];
const numberIn = (fields: readonly Field[], wanted: number): number => Number(fieldValue(fields, wanted) ?? 0);
const messageIn = (fields: readonly Field[], wanted: number): Field[] => {
  const value = fieldValue(fields, wanted);
  return Buffer.isBuffer(value) ? readFields(value) : [];
};
const messagesIn = (fields: readonly Field[], wanted: number): Field[][] =>
  fields.flatMap(([number, value]) => (number === wanted && Buffer.isBuffer(value) ? [readFields(value)] : []));

/**
 * The information of one node about one partition. Each leader of a partition has an epoch of its own, larger than
 * those before.
 */
export interface PartitionView {
  readonly node: number;
  readonly partition: number;
  readonly epoch: number;
  readonly isLeader: boolean;
}

const leaderMode = 1;

/** The numbers are those of `restate.cluster.ClusterState` in the engine's cluster.proto; a map is a list of keys and values. */
export const readClusterState = (response: Buffer): PartitionView[] =>
  messagesIn(messageIn(readFields(response), 1), 4).flatMap((node) =>
    messagesIn(messageIn(messageIn(node, 2), 1), 3).map((entry) => {
      const status = messageIn(entry, 2);
      return {
        node: numberIn(node, 1),
        partition: numberIn(entry, 1),
        epoch: numberIn(messageIn(status, 4), 1),
        isLeader: numberIn(status, 3) === leaderMode,
      };
    }),
  );

const method = "/restate.cluster_ctrl.ClusterCtrlSvc/GetClusterState";
const grpcHeaderBytes = 5;

/** Asks one node of the engine, over gRPC at its node port, which partitions all nodes have. */
export const fetchPartitionViews = (nodeUrl: string): Promise<PartitionView[]> =>
  new Promise((resolve, reject) => {
    const session = connect(nodeUrl);
    const fail = (error: Error) => {
      session.destroy();
      reject(error);
    };
    session.on("error", fail);
    const headers = { ":method": "POST", ":path": method, "content-type": "application/grpc", te: "trailers" };
    const stream = session.request(headers);
    const chunks: Buffer[] = [];
    stream.setTimeout(1000, () => fail(new Error("The engine's node does not answer")));
    stream.on("error", fail);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => {
      session.close();
      try {
        resolve(readClusterState(Buffer.concat(chunks).subarray(grpcHeaderBytes)));
      } catch (error) {
        reject(error);
      }
    });
    stream.end(Buffer.alloc(grpcHeaderBytes));
  });
