// Roles, policies and the topic's key, as AWS describes them.

import { decoded, type Kind, tagsOf, without } from "./kind.ts";

export const POLICIES: readonly Kind[] = [
  {
    type: "AWS::IAM::Role",
    read: async ({ iam }, { id }) => {
      const { Role } = await iam.getRole({ RoleName: id });
      return {
        ...without(Role, "Arn CreateDate RoleId RoleLastUsed RoleName"),
        AssumeRolePolicyDocument: decoded(Role?.AssumeRolePolicyDocument),
        PermissionsBoundary: Role?.PermissionsBoundary?.PermissionsBoundaryArn,
        ...tagsOf(Role?.Tags),
      };
    },
    filledIn: { MaxSessionDuration: [3_600], Path: ["/"] },
  },
  {
    type: "AWS::IAM::Policy",
    read: async ({ iam }, { text }) => {
      const inline = { RoleName: text("Roles"), PolicyName: text("PolicyName") };
      const { PolicyDocument } = await iam.getRolePolicy(inline);
      return { PolicyDocument: decoded(PolicyDocument) };
    },
  },
  {
    type: "AWS::IAM::ManagedPolicy",
    read: async ({ iam }, { id: PolicyArn }) => {
      const { Policy } = await iam.getPolicy({ PolicyArn });
      const VersionId = Policy?.DefaultVersionId;
      const { PolicyVersion } = await iam.getPolicyVersion({ PolicyArn, VersionId });
      const counts = "AttachmentCount PermissionsBoundaryUsageCount";
      const ofItself = `Arn CreateDate DefaultVersionId IsAttachable PolicyId PolicyName UpdateDate ${counts}`;
      return {
        ...without(Policy, ofItself),
        PolicyDocument: decoded(PolicyVersion?.Document),
        ...tagsOf(Policy?.Tags),
      };
    },
  },
];

export const KEY: readonly Kind[] = [
  {
    type: "AWS::KMS::Key",
    read: async ({ kms }, { id: KeyId }) => {
      const { KeyMetadata } = await kms.describeKey({ KeyId });
      const { Policy } = await kms.getKeyPolicy({ KeyId, PolicyName: "default" });
      const { KeyRotationEnabled, RotationPeriodInDays } = await kms.getKeyRotationStatus({ KeyId });
      const { Tags } = await kms.listResourceTags({ KeyId });
      const ofItself =
        "AWSAccountId Arn CreationDate CurrentKeyMaterialId CustomerMasterKeySpec EncryptionAlgorithms KeyId KeyManager";
      return {
        ...without(KeyMetadata, ofItself),
        KeyPolicy: Policy,
        EnableKeyRotation: KeyRotationEnabled,
        RotationPeriodInDays,
        ...tagsOf(Tags),
      };
    },
    filledIn: {
      Enabled: [true],
      KeySpec: ["SYMMETRIC_DEFAULT"],
      KeyState: ["Enabled"],
      KeyUsage: ["ENCRYPT_DECRYPT"],
      MultiRegion: [false],
      Origin: ["AWS_KMS"],
      RotationPeriodInDays: [365],
    },
  },
];
