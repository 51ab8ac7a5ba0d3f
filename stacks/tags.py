"""The deployment's tags, on every resource that can have some."""

from collections.abc import Mapping

from aws_cdk import CfnResource, Stack, Tags

# Types that the CDK does not tag: it does not know their tags, or creates them as plain resources
_BY_HAND = {
    "AWS::Budgets::Budget": "ResourceTags",
    "AWS::IAM::Role": "Tags",
    "AWS::Lambda::Function": "Tags",
}


def tag_resources(stack: Stack, tags: Mapping[str, str]) -> None:
    """Tag the stack, and every resource of it that exists by now."""
    for key, value in tags.items():
        Tags.of(stack).add(key, value)
    for construct in stack.node.find_all():
        # The CDK's own classes for functions and roles have tags
        if isinstance(construct, CfnResource) and not hasattr(construct, "tags"):
            name = _BY_HAND.get(construct.cfn_resource_type)
            if name is not None:
                listed = [{"Key": key, "Value": value} for key, value in tags.items()]
                construct.add_property_override(name, listed)
